#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The lines of ccljson beside encoded video: in files and by RTP, and back. Prints TAP."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/runner"))
import tap  # noqa: E402

scratch = tempfile.TemporaryDirectory(prefix="streams-")
folder = pathlib.Path(scratch.name)
FRAMES = 50
SOURCE = (f"videotestsrc pattern=ball num-buffers={FRAMES} ! video/x-raw,format=I420,width=320,height=240,framerate=25/1"
          " ! ccl threshold=128 ! ccltrack least-way=0 regions-location=regions.txt")
(folder / "regions.txt").write_text("""region floor 0%,50% 100%,50% 100%,100% 0%,100%
line "the <gate> & door" 160,0 160,240
""")


def launch(line):
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True, timeout=60, cwd=folder)


def has(element):
    return subprocess.run(["gst-inspect-1.0", "--exists", element], check=False).returncode == 0


def needs(*elements):
    for element in elements:
        if not has(element):
            raise tap.Skip(f"this GStreamer has no {element}")


def encoder():
    """A codec that Matroska and MPEG-TS take alike."""
    for name in ("x264enc tune=zerolatency ! h264parse", "avenc_mpeg2video ! mpegvideoparse", "openh264enc ! h264parse"):
        if all(has(part.split()[0]) for part in name.split(" ! ")):
            return name
    raise tap.Skip("this GStreamer has no encoder for MPEG-TS")


def lines(name):
    return (folder / name).read_text().splitlines()


def without_times(name):
    """MPEG-TS has times of its own."""
    found = [json.loads(line) for line in lines(name)]
    for line in found:
        del line["pts"], line["running_time"]
    return found


def streams(name):
    """Type and codec of the streams of a file, by ffprobe."""
    if not shutil.which("ffprobe"):
        raise tap.Skip("ffprobe is not installed")
    output = subprocess.run(["ffprobe", "-v", "error", "-show_streams", "-of", "json", folder / name], check=True,
                            capture_output=True, text=True).stdout
    return {(stream["codec_type"], stream.get("codec_name")) for stream in json.loads(output)["streams"]}


def expected():
    """the lines have components, tracks, regions and events"""
    launch(f"{SOURCE} ! ccljson ! filesink location=expected.ndjson")
    found = [json.loads(line) for line in lines("expected.ndjson")]
    assert sum("frame" in line for line in found) == FRAMES
    assert any("event" in line for line in found) and any(line.get("components") for line in found)


def file_of_lines():
    """filesrc ! ccljsonparse ! ccljson writes the same file"""
    launch("filesrc location=expected.ndjson blocksize=1000 ! ccljsonparse ! ccljson ! filesink location=again.ndjson")
    tap.equal(lines("again.ndjson"), lines("expected.ndjson"))


def write_file(mux, name, text=""):
    launch(f"{mux} name=mux ! filesink location={name} {SOURCE} ! tee name=t"
           f" t. ! queue max-size-time=0 max-size-buffers=0 ! videoconvert ! {encoder()} ! mux."
           f" t. ! queue max-size-time=0 max-size-buffers=0 ! ccljson {text} ! mux.")


def read_matroska(name, lines_name):
    launch(f"filesrc location={name} ! matroskademux name=d d.subtitle_0 ! ccljsonparse ! ccljson ! filesink location={lines_name}")


def matroska():
    """a text stream of Matroska has the same lines"""
    write_file("matroskamux", "video.mkv", "! text/x-raw,format=utf8")
    read_matroska("video.mkv", "mkv.ndjson")
    tap.equal(lines("mkv.ndjson"), lines("expected.ndjson"))


def matroska_in_ffprobe():
    """ffprobe finds the text stream in the Matroska file"""
    assert ("subtitle", "subrip") in streams("video.mkv"), streams("video.mkv")


def matroska_in_mkvmerge():
    """mkvmerge finds the text stream in the Matroska file, and writes the same lines to another file"""
    if not shutil.which("mkvmerge"):
        raise tap.Skip("mkvmerge is not installed")
    found = json.loads(subprocess.run(["mkvmerge", "-J", folder / "video.mkv"], check=True, capture_output=True,
                                      text=True).stdout)
    tap.equal([track["type"] for track in found["tracks"]], ["video", "subtitles"])
    subprocess.run(["mkvmerge", "-q", "-o", folder / "merged.mkv", folder / "video.mkv"], check=True, timeout=60)
    read_matroska("merged.mkv", "merged.ndjson")
    # mkvmerge takes the duration of an event's text from the next one, and drops the last text, which has none.
    assert lines("merged.ndjson") in (lines("expected.ndjson"), lines("expected.ndjson")[:-1]), lines("merged.ndjson")


def on_the_decoded_video():
    """cclcombiner puts the metadata of the text stream onto the decoded frames"""
    needs("decodebin")
    launch("filesrc location=video.mkv ! matroskademux name=d"
           " d.video_0 ! queue ! decodebin ! combiner.video"
           " d.subtitle_0 ! queue ! ccljsonparse ! combiner.mask"
           " cclcombiner name=combiner ! ccljson ! filesink location=video.ndjson")
    tap.equal([line for line in lines("video.ndjson") if '"frame"' in line],
              [line for line in lines("expected.ndjson") if '"frame"' in line])


def mpeg_ts():
    """KLV packets in MPEG-TS have the same lines"""
    write_file("mpegtsmux", "video.ts")
    launch("filesrc location=video.ts ! tsdemux name=d d. ! meta/x-klv ! ccljsonparse ! ccljson"
           " ! filesink location=ts.ndjson".replace("meta/x-klv", "capsfilter caps=meta/x-klv"))
    tap.equal(without_times("ts.ndjson"), without_times("expected.ndjson"))


def mpeg_ts_in_ffprobe():
    """ffprobe finds the KLV stream in the MPEG-TS file"""
    assert ("data", "klv") in streams("video.ts"), streams("video.ts")


def rtp():
    """rtpgstpay and rtpgstdepay carry the lines in small packets"""
    needs("rtpgstpay", "rtpgstdepay")
    launch(f"{SOURCE} ! ccljson ! rtpgstpay mtu=200 ! rtpgstdepay ! application/x-ndjson ! ccljsonparse ! ccljson"
           " ! filesink location=rtp.ndjson")
    tap.equal(lines("rtp.ndjson"), lines("expected.ndjson"))


def rtp_of_klv():
    """rtpklvpay and rtpklvdepay carry the lines as KLV packets (RFC 6597)"""
    needs("rtpklvpay", "rtpklvdepay")
    launch(f"{SOURCE} ! ccljson ! rtpklvpay mtu=200 ! rtpklvdepay ! ccljsonparse ! ccljson"
           " ! filesink location=klv.ndjson")
    tap.equal(lines("klv.ndjson"), lines("expected.ndjson"))


sys.exit(tap.run(expected, file_of_lines, matroska, matroska_in_ffprobe, matroska_in_mkvmerge, on_the_decoded_video, mpeg_ts,
         mpeg_ts_in_ffprobe, rtp, rtp_of_klv))
