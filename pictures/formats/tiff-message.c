/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tiff-message.h"

#include "pictures/error.h"

#include <string.h>

static int
keep_message (TIFF *tiff, void *data, const char *module, const char *format, va_list arguments)
{
  TiffMessage *message = data;
  (void)tiff, (void)module;
  vsnprintf (message->text, sizeof message->text, format, arguments);
  message->text[strcspn (message->text, "\n")] = '\0';
  return 1; /* do not print it */
}

static int
drop_warning (TIFF *tiff, void *data, const char *module, const char *format, va_list arguments)
{
  (void)tiff, (void)data, (void)module, (void)format, (void)arguments;
  return 1;
}

TIFFOpenOptions *
tiff_options_new (TiffMessage *message)
{
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc ();

  message->text[0] = '\0';
  if (!options)
    return NULL;
  TIFFOpenOptionsSetErrorHandlerExtR (options, keep_message, message);
  TIFFOpenOptionsSetWarningHandlerExtR (options, drop_warning, NULL);
  return options;
}

bool
tiff_fail (CclError *error, const char *path, const TiffMessage *message)
{
  return fail (error, "%s: %s", path, message->text[0] ? message->text : "damaged TIFF");
}
