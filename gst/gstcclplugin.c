/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/gst.h>

#include <gst/ccl/ccl.h>

#include "shared/gstcclelements.h"
#include "shared/gstccli18n.h"

/* Before the plugin is installed, translations are in the folder that the variable names. */
static void
bind_translations (void)
{
  const gchar *folder = g_getenv ("GST_CCL_LOCALEDIR");

  bindtextdomain (GETTEXT_PACKAGE, folder ? folder : LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean registered = FALSE;

  bind_translations ();
  /* Metadata that is deserialised needs its type registered. */
  gst_ccl_meta_get_info ();

  registered |= GST_ELEMENT_REGISTER (ccl, plugin);
  registered |= GST_ELEMENT_REGISTER (cclcombiner, plugin);
  registered |= GST_ELEMENT_REGISTER (ccljson, plugin);
  registered |= GST_ELEMENT_REGISTER (ccljsonparse, plugin);
#if HAVE_PANGOCAIRO
  registered |= GST_ELEMENT_REGISTER (ccloverlay, plugin);
#endif
  registered |= GST_ELEMENT_REGISTER (cclrecord, plugin);
  registered |= GST_ELEMENT_REGISTER (cclsnapshot, plugin);
  registered |= GST_ELEMENT_REGISTER (ccltrack, plugin);
#if HAVE_CUDA
  /* Without a driver, too: the element posts an error when it is started. */
  registered |= GST_ELEMENT_REGISTER (cudaccl, plugin);
#endif
  return registered;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ccl,
    "Connected components labelling of video", plugin_init, PACKAGE_VERSION, "LGPL", PACKAGE,
    PACKAGE_ORIGIN)
