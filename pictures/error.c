/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The end of a text that fits behind an ellipsis, from the beginning of a character on. */
static const char *
end_of (const char *text, size_t room)
{
  text += strlen (text) - room;
  while ((*text & 0xc0) == 0x80) /* inside a character of UTF-8 */
    text++;
  return text;
}

bool
fail (CclError *error, const char *format, ...)
{
  static const char ellipsis[] = "…";
  const size_t room = sizeof error->message - sizeof ellipsis;
  char text[8192];
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 127)
      *c = '?';
  error->status = CUDACCL_ERROR_IO;
  if (strlen (text) < sizeof error->message) {
    strcpy (error->message, text);
  } else {
    strcpy (error->message, ellipsis);
    strcat (error->message, end_of (text, room));
  }
  return false;
}

bool
fail_without_memory (CclError *error)
{
  fail (error, "not enough memory");
  error->status = CUDACCL_ERROR_NO_MEMORY;
  return false;
}
