/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fuzz target: a program driven by libFuzzer or, with standalone.c, one that runs inputs from
 * files and inputs generated from a seed. On a failed check it prints one line and aborts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Runs one input; returns 0. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Changes a generated input so that it runs quickly, because a run has many of them. */
void make_quick (uint8_t *data, size_t size);

/* The unread bytes of an input. Bytes beyond its end are 0. */
typedef struct Input {
  const uint8_t *data;
  size_t size;
} Input;

static inline uint8_t
take_byte (Input *input)
{
  if (input->size == 0)
    return 0;
  input->size--;
  return *input->data++;
}

static inline uint32_t
take_number (Input *input)
{
  uint32_t number = 0;
  for (int i = 0; i < 4; i++)
    number = number << 8 | take_byte (input);
  return number;
}

static inline uint64_t
take_long_number (Input *input)
{
  uint64_t upper = take_number (input);
  return upper << 32 | take_number (input);
}
