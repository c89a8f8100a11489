#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the pages of the API documentation that do not come from introspection of the library.

usage: pages.py elements PLUGIN.so GST    the elements: what the sources in the folder GST say of
                                          them, and their properties as GStreamer sees them
       pages.py cuda GSTCCLCUDA.c         the functions for C alone

The page goes to standard output, in Markdown.
"""
import pathlib
import re
import sys


def elements(plugin, folder):
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GObject, Gst

    def is_a(spec, base):
        return GObject.type_is_a(spec.value_type, base)

    def members(value, table):
        # A dictionary up to PyGObject 3.50, a Python enumeration later.
        kind = type(value)
        return getattr(kind, table).values() if hasattr(kind, table) else list(kind)

    def number(value):
        return f"{value:g}" if isinstance(value, float) else str(value)

    def range_of(spec, value):
        name = spec.value_type.name.removeprefix("g")
        if is_a(spec, GObject.TYPE_ENUM):
            return ", ".join(v.value_nick for v in members(value, "__enum_values__"))
        if is_a(spec, GObject.TYPE_FLAGS):
            return "+".join(v.first_value_nick for v in members(value, "__flags_values__"))
        return f"{name}, {number(spec.minimum)}…{number(spec.maximum)}" if hasattr(spec, "minimum") else name

    def default_of(spec, value):
        if not spec.flags & GObject.ParamFlags.WRITABLE:
            return "read only"
        if value is None:
            return ""
        if is_a(spec, GObject.TYPE_ENUM):
            return value.value_nick
        if is_a(spec, GObject.TYPE_FLAGS):
            return "+".join(value.value_nicks)
        if spec.name.endswith("color"):
            return f"0x{value:08x}"
        return str(value).lower() if isinstance(value, bool) else str(value)

    sections = {}
    for source in pathlib.Path(folder).glob("*/*.c"):
        sections.update(re.findall(r"/\*\*\n \* SECTION:element-(\w+)\n(.*?)\n \*/", read(source), re.S))
    Gst.init(None)
    name = Gst.Plugin.load_file(plugin).get_name()
    print("Title: Elements\n\n# Elements\n")
    for feature in sorted(f.get_name() for f in Gst.Registry.get().get_feature_list_by_plugin(name)):
        factory = Gst.ElementFactory.find(feature).load()
        print(f"## {feature}\n\n{markdown(sections.get(feature) or factory.get_metadata('description'))}\n")
        for template in factory.get_static_pad_templates():
            caps = template.get_caps()
            media = sorted({f"`{caps.get_structure(i).get_name()}{features(caps.get_features(i))}`"
                            for i in range(caps.get_size())})
            print(f"- {template.direction.value_nick} pad `{template.name_template}`: {', '.join(media)}")
        print()
        element = factory.create(None)
        own = [spec for spec in element.list_properties()
               if spec.owner_type.name.startswith(("GstCcl", "GstCudaCcl"))]
        if own:
            print("| property | type | default | meaning |\n| --- | --- | --- | --- |")
        for spec in sorted(own, key=lambda spec: spec.name):
            value = element.get_property(spec.name)
            print(f"| `{spec.name}` | {range_of(spec, value)} | {default_of(spec, value)} | {spec.blurb} |")
        print()


def features(caps_features):
    """(memory:CUDAMemory), or nothing for system memory."""
    text = caps_features.to_string()
    return "" if text == "memory:SystemMemory" else f"({text})"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def markdown(comment):
    """The text of a gtk-doc comment."""
    text = re.sub(r"^ \* ?", "", comment, flags=re.M)
    text = re.sub(r"^@(?:title|short_description|see_also):.*\n", "", text, flags=re.M)
    text = re.sub(r"^#+ ", "### ", text, flags=re.M)
    text = re.sub(r"\|\[(?:<!-- .* -->)?", "```", text)
    text = re.sub(r"\]\| ?", "```\n\n", text)
    text = re.sub(r"(?:\((?:transfer|nullable|scope|type|closure)\b[^)]*\) ?)+:? ?", "", text)
    return re.sub(r"[%#@](\w+)", r"`\1`", text)


def cuda(path):
    source = read(path)
    section = re.search(r"/\*\*\n \* SECTION:.*?\n \*\n(.*?)\n \*/", source, re.S)
    print("Title: CUDA memory\n\n# Masks in CUDA memory\n")
    print("Header `gst/ccl/gstcclcuda.h`.\n")
    print(markdown(section[1]))
    for name, comment, prototype in re.findall(
            r"/\*\*\n \* (gst_\w+):\n(.*?)\n \*/\n(.*?)\n\{", source, re.S):
        parameters, _, rest = comment.partition("\n *\n")
        print(f"\n## {name}\n\n```c\n{prototype};\n```\n")
        for parameter in re.split(r"^ \* @", parameters, flags=re.M)[1:]:
            word, _, text = parameter.partition(":")
            print(f"- `{word}`: {' '.join(markdown(text).split())}")
        print("\n" + markdown(rest))


if __name__ == "__main__":
    {"elements": elements, "cuda": cuda}[sys.argv[1]](*sys.argv[2:])
