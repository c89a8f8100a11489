#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# compare.sh GENERATOR TREE FILE: fails when the file is not what the generator writes.
"$1" "$2" | diff - "$3" || {
  echo "$3 is not what decision-trees/generate.c writes: generate $2 > $3"
  exit 1
}
