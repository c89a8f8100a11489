#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer's ONVIF elements read the tracks of ccltrack, and send them by RTP. Prints TAP.

usage: test-onvif.py

They belong to GStreamer's plugins in Rust. With ONVIF_SCHEMAS, a folder with ONVIF's schemas and
those that they import, the documents are validated, too.
"""
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import quoteattr

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/runner"))
import tap  # noqa: E402
from processes import free_port, running, wait_for  # noqa: E402

VIDEO = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
FRAMES, WIDTH, HEIGHT, RATE = 795, 768, 576, 10  # of the video
TT = "{http://www.onvif.org/ver10/schema}"
scratch = tempfile.TemporaryDirectory(prefix="onvif test ")
folder = pathlib.Path(scratch.name)
# Times are those of the video, from 1970 on, so that frames can be told apart.
LABELLED = (" ! ccl foreground=codebook min-area=550 meta=ccl+analytics ! tee name=raw raw. ! queue ! ccljson"
            " ! filesink location={components} raw. ! queue ! ccltrack")
METADATA = " ! relationmeta2onvifmeta time-source=running-time ! onvifmetadataextractor name=onvif"
SEND = ("videotestsrc pattern=ball num-buffers=60 ! video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1"
        " ! ccl threshold=128 meta=ccl+analytics ! ccltrack" + METADATA +
        " onvif.src ! queue ! fakesink onvif.meta_src ! tee name=copy copy. ! queue ! filesink location={sent}"
        " copy. ! queue ! rtponvifmetadatapay mtu=200 ! udpsink host=127.0.0.1 port={port}")
RECEIVE = ("udpsrc port={port} ! application/x-rtp,media=application,payload=96,clock-rate=90000,"
           "encoding-name=VND.ONVIF.METADATA ! rtponvifmetadatadepay ! filesink location={received} buffer-mode=2")


def needs(*elements):
    for element in elements:
        found = subprocess.run(["gst-inspect-1.0", "--exists", element], check=False, capture_output=True)
        if found.returncode != 0:
            raise tap.Skip(f"this GStreamer has no {element}")


def object_ids_are_tracks():
    """relationmeta2onvifmeta writes identities of tracks from version 0.16 on, and before that
    the number of the metadata."""
    found = subprocess.run(["gst-inspect-1.0", "relationmeta2onvifmeta"], check=True, capture_output=True, text=True)
    return [int(n) for n in re.search(r"Version +(\d+)\.(\d+)", found.stdout).groups()] >= [0, 16]


def words(line, **values):
    return ["gst-launch-1.0", "-q", *(word.format(**values) for word in line.split())]


def documents(path):
    """The XML documents that stand in a file one after another."""
    return ["<?xml" + text for text in path.read_text().split("<?xml")[1:]] if path.exists() else []


def street():
    """Of each frame of the video: the ONVIF document, the components and the tracks, by ccljson."""
    needs("relationmeta2onvifmeta", "onvifmetadataextractor", "ccltrack")
    if not pathlib.Path(VIDEO).exists():
        raise tap.Skip("opencv-doc is not installed")
    xml, components, tracks = (folder / name for name in ("street.xml", "components", "tracks"))
    if not xml.exists():
        line = ("filesrc location={video} ! decodebin ! videoconvert ! video/x-raw,format=NV12" + LABELLED +
                " ! tee name=t t. ! queue ! ccljson ! filesink location={tracks} t. ! queue" + METADATA +
                " onvif.src ! queue ! fakesink onvif.meta_src ! queue ! filesink location={xml}")
        subprocess.run(words(line, video=VIDEO, components=components, tracks=tracks, xml=xml), check=True, timeout=250)
    tables = [[line["components"] for line in map(json.loads, path.read_text().splitlines()) if "components" in line]
              for path in (components, tracks)]
    return documents(xml), *tables


def corners(box):
    return [box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]]


def objects(document):
    """The frame's time in seconds, its transformation, and identity, type and box of each object."""
    frame = ElementTree.fromstring(document).find(f"{TT}VideoAnalytics/{TT}Frame")
    time = datetime.datetime.fromisoformat(frame.get("UtcTime").replace("Z", "+00:00")).timestamp()
    transformation = [float(frame.find(f"{TT}Transformation/{TT}{name}").get(axis))
                      for name in ("Translate", "Scale") for axis in ("x", "y")]
    found = []
    for item in frame.findall(f"{TT}Object"):
        box = item.find(f"{TT}Appearance/{TT}Shape/{TT}BoundingBox")
        found.append((int(item.get("ObjectId")), item.findtext(f"{TT}Appearance/{TT}Class/{TT}Type"),
                      [float(box.get(side)) for side in ("left", "top", "right", "bottom")]))
    return time, transformation, found


def times():
    """each frame has a document, with its time"""
    xml, components, tracks = street()
    tap.equal([len(xml), len(components), len(tracks)], [FRAMES] * 3, "documents and frames")
    for number, document in enumerate(xml):
        time = objects(document)[0]
        assert abs(time - number / RATE) < 0.001, (number, time)


def boxes():
    """each component is an object with its box, and the transformation is that of the frame's size"""
    for number, (document, components, _) in enumerate(zip(*street())):
        _, transformation, found = objects(document)
        tap.equal([box for _, _, box in found], [corners(c) for c in components], f"frame {number}: boxes")
        tap.equal({kind for _, kind, _ in found} | {"component"}, {"component"}, f"frame {number}: types")
        # The element writes five decimals.
        for got, want in zip(transformation, (-1, -1, 2 / WIDTH, 2 / HEIGHT)):
            assert abs(got - want) <= 0.000005, (number, transformation)


def identities():
    """the ObjectId of a component in which tracks are is the identity of one of them"""
    frames = zip(*street())
    if not object_ids_are_tracks():
        raise tap.Skip("relationmeta2onvifmeta before 0.16 writes no identities of tracks")
    compared = 0
    for number, (document, components, tracks) in enumerate(frames):
        for (identity, _, _), component in zip(objects(document)[2], components):
            inside = [track["id"] for track in tracks if track["label"] == component["label"]]
            assert not inside or identity in inside, f"frame {number}: {identity}, want one of {inside}"
            compared += bool(inside)
    assert compared > 3000, compared


def by_rtp():
    """the documents arrive by RTP over UDP, each in several packets"""
    needs("relationmeta2onvifmeta", "onvifmetadataextractor", "rtponvifmetadatapay", "rtponvifmetadatadepay",
          "udpsink", "udpsrc", "ccltrack")
    sent, received, port = folder / "sent.xml", folder / "received.xml", free_port()
    with running(*words(RECEIVE, port=port, received=received)) as receiver:
        wait_for(lambda: f"{port:04X} 00000000" in udp_sockets(), "nobody listens")
        subprocess.run(words(SEND, port=port, sent=sent), check=True, timeout=60)
        wait_for(lambda: len(documents(received)) >= 60 and received.stat().st_size >= sent.stat().st_size,
                 f"{len(documents(received))} documents")
        tap.equal(receiver.poll(), None, "the receiver")
    tap.equal(len(documents(sent)), 60, "documents sent")
    tap.equal(documents(received), documents(sent), "documents received")


def udp_sockets():
    """The local ports of UDP in hexadecimal, in front of what they are connected to."""
    rows = [line.split() for line in pathlib.Path("/proc/net/udp").read_text().splitlines()[1:]]
    return "".join(f"{row[1].rsplit(':', 1)[1]} {row[2].split(':')[0]}\n" for row in rows)


def catalog(schemas):
    """Writes where the files are that the schemas import from the web."""
    files = {path.name: path.resolve() for path in schemas.rglob("*") if path.is_file()}
    places = {place for path in files.values()
              for place in re.findall(r'schemaLocation="(https?://[^"]+)"', path.read_text(errors="replace"))}
    there = [(place, files[name].as_uri()) for place in places if (name := place.rsplit("/", 1)[1]) in files]
    path = folder / "catalog.xml"
    path.write_text('<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">' + "".join(
        f"<uri name={quoteattr(place)} uri={quoteattr(uri)}/>" for place, uri in there) + "</catalog>")
    return path.as_uri().replace(" ", "%20")


def schema():
    """the documents keep to ONVIF's schema, but for the centre of gravity that the element leaves out"""
    xml = street()[0]
    if "ONVIF_SCHEMAS" not in os.environ:
        raise tap.Skip("ONVIF_SCHEMAS names no folder with ONVIF's schemas")
    if not shutil.which("xmllint"):
        raise tap.Skip("xmllint is not installed")
    schemas = pathlib.Path(os.environ["ONVIF_SCHEMAS"])
    paths = []
    for number, document in enumerate(xml[::10]):
        paths.append(folder / f"{number}.xml")
        paths[-1].write_text(document)
    result = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", next(schemas.rglob("metadatastream.xsd")),
                             *paths],
                            env={**os.environ, "XML_CATALOG_FILES": catalog(schemas)}, check=False,
                            capture_output=True, text=True, timeout=120)
    if "not determinist" in result.stderr and "failed to compile" in result.stderr:
        raise tap.Skip("this xmllint refuses ONVIF's schemas, whose content models are not deterministic")
    assert result.returncode in (0, 3), result.stderr  # 3: invalid; others: the schema is not usable
    errors = {re.sub(r".*: Schemas validity error : ", "", line)
              for line in result.stderr.splitlines() if "Schemas validity error" in line}
    known = {f"Element '{TT}Shape': Missing child element(s). Expected is ( {TT}CenterOfGravity )."}
    assert errors <= known, errors


sys.exit(tap.run(times, boxes, identities, by_rtp, schema))
