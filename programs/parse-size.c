/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "parse-size.h"

#include <ctype.h>
#include <string.h>

/* Parses digits with an optional fraction. Unlike that of strtod(), the decimal point is the same
 * in all locales. */
static bool
parse_number (const char **text, double *number)
{
  const char *at = *text;
  double place = 1;
  bool has_digits = false;

  for (*number = 0; isdigit ((unsigned char)*at); at++, has_digits = true)
    *number = *number * 10 + (*at - '0');
  if (*at == '.')
    for (at++; isdigit ((unsigned char)*at); at++, has_digits = true)
      *number += (*at - '0') * (place /= 10);
  *text = at;
  return has_digits;
}

bool
parse_size (const char *text, uint64_t *bytes)
{
  static const char letters[] = "KMGT";
  double number;

  if (!parse_number (&text, &number))
    return false;
  const char *letter = *text ? strchr (letters, toupper ((unsigned char)*text)) : NULL;
  if (letter) {
    const bool is_binary = tolower ((unsigned char)text[1]) == 'i';
    for (long i = 0; i <= letter - letters; i++)
      number *= is_binary ? 1024 : 1000;
    text += is_binary ? 2 : 1;
  }
  if (toupper ((unsigned char)*text) == 'B')
    text++;
  if (*text || !(number < 0x1p60))
    return false;
  *bytes = (uint64_t)(number + 0.5);
  return true;
}
