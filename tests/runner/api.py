# SPDX-License-Identifier: LGPL-2.1-or-later
"""The public functions of the libraries and the properties of the elements, from the sources."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def declared(headers, mark):
    """Names of the functions that these headers declare behind the mark of exported symbols."""
    names = set()
    for header in headers:
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
        names |= set(re.findall(rf"\b{mark}\b[^;{{}}]*?\b(\w+) \(", text))
    assert names, f"no {mark} in {[header.name for header in headers]}"
    return names


def library():
    """The functions of libcudaccl."""
    return declared(sorted((ROOT / "include/cudaccl").glob("*.h")), "CUDACCL_API")


def metadata_headers():
    """The headers of libgstccl-1.0 that declare functions of its interface."""
    return [path for path in sorted((ROOT / "gst/ccl").glob("*.h"))
            if re.search(r"^GST_CCL_API\b", path.read_text(), re.M)]


def metadata():
    """The functions of libgstccl-1.0."""
    return declared(metadata_headers(), "GST_CCL_API")


def element_properties():
    """The properties of ccl and cudaccl, from the table in gstcclproperties.c."""
    names = set(re.findall(r'\{GST_CCL_KIND_\w+, [^"]*"([\w-]+)"', (ROOT / "gst/labelling/frame/gstcclproperties.c").read_text()))
    assert {"threshold", "cuda-device-id", "stats"} <= names, names
    return names


def other_properties():
    """The properties of the other elements, from their tables; cclcombiner, whose base class has properties, has none."""
    names = set()
    for path in sorted((ROOT / "gst").glob("*/*.c")):
        if path.parent.name != "labelling":
            names |= set(re.findall(r'\{GST_CCL_KIND_\w+, [^"]*"([\w-]+)"|g_param_spec_\w+ \("([\w-]+)"', path.read_text()))
    names = {name for pair in names for name in pair if name}
    assert {"trail-length", "max-age", "regions"} <= names, names
    return names
