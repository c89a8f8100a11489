#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs the build folder into an empty folder and uses the installed files: the plugin, and
# programs that find the libraries by pkg-config alone. Prints TAP.
#
# usage: installed.sh BUILD APPLICATION.c LIBRARY_EXAMPLE.c PREFIX LIBDIR HEADER…
# HEADER: below the include folder of the prefix
set -uo pipefail
build=$1 application=$2 example=$3 prefix=$4 libdir=$5
shift 5
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
    "$libdir/pkgconfig/gstreamer-ccl-1.0.pc" "$libdir/libcudaccl.so" \
    "$libdir/pkgconfig/cudaccl.pc" "${headers[@]/#/include/}"; do
    [ -e "$root/$file" ] || { echo "# $file is missing" && missing=1; }
  done
  return $missing
}

plugin_loads() {
  gst-inspect-1.0 ccl >"$place/inspect" && grep -q "$root/$libdir" "$place/inspect"
}

# usage: compile_with PACKAGE ARGUMENT…    compiles with the flags of a pkg-config file
compile_with() {
  local flags
  # As a package manager that installs to another prefix than the configured one.
  sed -i "s|^prefix=.*|prefix=$root|" "$PKG_CONFIG_PATH"/*.pc
  flags=$(pkg-config --cflags --libs "$1") || return
  shift
  # shellcheck disable=SC2086
  ${CC:-cc} -Wall -Werror "$@" $flags
}

application_builds() {
  compile_with gstreamer-ccl-1.0 -o "$place/application" "$application"
}

each_header_compiles_alone_as_c_and_cpp() {
  local header package language failed=0
  for header in "${headers[@]}"; do
    case $header in
    cudaccl/*) package=cudaccl ;;
    *) package=gstreamer-ccl-1.0 ;;
    esac
    for language in c c++; do
      echo "#include <${header#gstreamer-1.0/}>" >"$place/header"
      compile_with $package -x $language -fsyntax-only "$place/header" ||
        { echo "# $header does not compile as $language" && failed=1; }
    done
  done
  return $failed
}

library_example_labels_a_frame() {
  compile_with cudaccl -o "$place/example" "$example" &&
    [ "$("$place/example" | grep -c '^component ')" = 2 ]
}

application_runs() {
  local printed
  printed=$("$place/application") && [ "$printed" = 5 ] || {
    echo "# printed '$printed' instead of 5"
    return 1
  }
}

cases=(installs files_are_where_they_belong plugin_loads application_builds application_runs
  each_header_compiles_alone_as_c_and_cpp library_example_labels_a_frame)
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
