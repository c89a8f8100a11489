#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs the build folder into an empty place and uses what is there: the plugin, and an
# application that knows nothing but pkg-config's gstreamer-ccl-1.0. Prints TAP.
#
# usage: installed.sh BUILD APPLICATION.c PREFIX LIBDIR HEADER…
set -uo pipefail
build=$1 application=$2 prefix=$3 libdir=$4
shift 4
headers=("$@")

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
root=$place$prefix
export LD_LIBRARY_PATH=$root/$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GST_PLUGIN_PATH=$root/$libdir/gstreamer-1.0 GST_REGISTRY=$place/registry
export PKG_CONFIG_PATH=$root/$libdir/pkgconfig

installs() {
  DESTDIR=$place meson install -C "$build" --no-rebuild --quiet
}

files_are_where_they_belong() {
  local file missing=0
  for file in "$libdir/gstreamer-1.0/libgstccl.so" "$libdir/libgstccl-1.0.so" \
    "$libdir/pkgconfig/gstreamer-ccl-1.0.pc" "${headers[@]/#/include/gstreamer-1.0/gst/ccl/}"; do
    [ -e "$root/$file" ] || { echo "# $file is missing" && missing=1; }
  done
  return $missing
}

plugin_loads() {
  gst-inspect-1.0 ccl >"$place/inspect" && grep -q "$root/$libdir" "$place/inspect"
}

application_builds() {
  local flags
  # What a package manager does that installs elsewhere than was configured.
  sed -i "s|^prefix=.*|prefix=$root|" "$PKG_CONFIG_PATH/gstreamer-ccl-1.0.pc"
  flags=$(pkg-config --cflags --libs gstreamer-ccl-1.0) || return
  # shellcheck disable=SC2086
  ${CC:-cc} -Wall -Werror -o "$place/application" "$application" $flags
}

application_runs() {
  local printed
  printed=$("$place/application") && [ "$printed" = 5 ] || {
    echo "# printed '$printed' instead of 5"
    return 1
  }
}

cases=(installs files_are_where_they_belong plugin_loads application_builds application_runs)
echo "1..${#cases[@]}"
failed=0
for ((i = 0; i < ${#cases[@]}; i++)); do
  if ${cases[i]}; then
    echo "ok $((i + 1)) - ${cases[i]//_/ }"
  else
    echo "not ok $((i + 1)) - ${cases[i]//_/ }"
    failed=1
  fi
done
exit $failed
