/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors about raw video that a sink pad does not take: they name the format or the memory, and the
 * element to insert. Without them, all that users see is that some element upstream has stopped. */
#ifndef __GST_CCL_REFUSAL_H__
#define __GST_CCL_REFUSAL_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Looks at a query of the sink pad, and posts an error if it comes from a caps event whose caps the
 * pad does not take, whatever the peer downstream takes.
 *
 * latest: the text of the latest error, which is not posted again. The element's lock guards it;
 * the caller frees it. */
void gst_ccl_refusal_report (gchar **latest, GstElement *element, GstPad *sink, GstQuery *query);

G_END_DECLS

#endif /* __GST_CCL_REFUSAL_H__ */
