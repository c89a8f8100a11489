#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GstCclMeta from Python, through gi.repository.GstCcl. Prints TAP."""
import gc
import math
import sys
import traceback

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import GObject, Gst, GstVideo
except (ImportError, ValueError) as error:
    print(f"1..0 # SKIP no GStreamer for Python: {error}")
    sys.exit(0)
gi.require_version("GstCcl", "1.0")
from gi.repository import GstCcl

Gst.init(None)

WIDTH, HEIGHT = 7, 4
MASK = [
    "##....#",
    "##.....",
    ".......",
    "..###..",
]


def labelled(properties="", then=""):
    """The buffer that ccl, and what is behind it, makes of MASK."""
    pipeline = Gst.parse_launch(
        f"appsrc name=source format=time "
        f"caps=video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate=25/1 ! "
        f"ccl {properties} {then} ! appsink name=sink"
    )
    source, sink = pipeline.get_by_name("source"), pipeline.get_by_name("sink")
    # Rows of GRAY8 begin at multiples of four bytes.
    rows = [row.ljust((WIDTH + 3) // 4 * 4, ".") for row in MASK]
    frame = bytes(255 if pixel == "#" else 0 for row in rows for pixel in row)
    pipeline.set_state(Gst.State.PLAYING)
    source.emit("push-buffer", Gst.Buffer.new_wrapped(frame))
    sample = sink.emit("pull-sample")
    buffer = sample.get_buffer()
    pipeline.set_state(Gst.State.NULL)
    return buffer


def fields(component):
    return (
        component.label,
        component.area,
        (component.x, component.y, component.width, component.height),
        (component.centroid_x, component.centroid_y),
    )


EXPECTED = [
    (1, 4, (0, 0, 2, 2), (0.5, 0.5)),
    (2, 1, (6, 0, 1, 1), (6.0, 0.0)),
    (3, 3, (2, 3, 3, 1), (3.0, 3.0)),
]


def components():
    buffer = labelled()
    meta = GstCcl.buffer_get_ccl_meta(buffer)
    assert [fields(c) for c in meta.get_components()] == EXPECTED
    assert meta.get_n_components() == 3
    assert not meta.is_truncated()
    assert (meta.get_frame_width(), meta.get_frame_height()) == (WIDTH, HEIGHT)


def truncated_table():
    buffer = labelled("max-components=2")
    meta = GstCcl.buffer_get_ccl_meta(buffer)
    assert [fields(c) for c in meta.get_components()] == EXPECTED[:2]
    assert meta.get_n_components() == 3
    assert meta.is_truncated()


def label_map():
    buffer = labelled("attach-labels=true")
    meta = GstCcl.buffer_get_ccl_meta(buffer)
    labels, stride = meta.get_labels()
    data = labels.extract_dup(0, labels.get_size())
    rows = []
    for y in range(HEIGHT):
        row = memoryview(data)[y * stride : y * stride + 4 * WIDTH].cast("I")
        rows.append("".join(".123"[label] for label in row))
    assert rows == ["11....2", "11.....", ".......", "..333.."], rows


def label_map_as_bytes():
    meta = GstCcl.buffer_get_ccl_meta(labelled("attach-labels=true"))
    data = meta.read_labels().get_data()
    assert len(data) == 4 * WIDTH * HEIGHT
    pixels = memoryview(data).cast("I", (HEIGHT, WIDTH)).tolist()
    assert pixels == [[1, 1, 0, 0, 0, 0, 2], [1, 1, 0, 0, 0, 0, 0], [0] * 7, [0, 0, 3, 3, 3, 0, 0]]
    assert meta.read_mask() is None


def mask_as_bytes():
    meta = GstCcl.buffer_get_ccl_meta(labelled("attach-mask=true"))
    data = meta.read_mask().get_data()
    assert data == bytes(255 if pixel == "#" else 0 for row in MASK for pixel in row)


def contours():
    meta = GstCcl.buffer_get_ccl_meta(labelled("attach-contours=cracks"))
    polygons = meta.get_contours()
    assert polygons.get_kind() == GstCcl.CclContourKind.CRACKS
    assert polygons.get_n_contours() == 3
    assert [polygons.get_contour(i).label for i in range(3)] == [1, 2, 3]
    assert polygons.find(3) == (2, 1)
    assert list(polygons.get_points(2)) == [2, 3, 2, 4, 5, 4, 5, 3]
    assert GstCcl.buffer_get_ccl_meta(labelled()).get_contours() is None


def columns():
    meta = GstCcl.buffer_get_ccl_meta(labelled("attach-columns=topology+luma+color"))
    measured = meta.get_columns()
    keys = [measured.get_key(i) for i in range(measured.get_n_columns())]
    assert keys[:2] == ["sum_value", "sum_squares"] and "mean_y" in keys, keys
    assert measured.get_n_rows() == 3
    assert measured.get_values(measured.find("intensity_mean")) == [255, 255, 255]
    assert measured.get_values(measured.find("crack_length")) == [8, 4, 8]
    assert measured.find("nothing") == -1
    assert GstCcl.buffer_get_ccl_meta(labelled()).get_columns() is None


def region_state():
    def state(options):
        return GstCcl.buffer_get_ccl_meta(labelled("", f"! ccltrack confirm-frames=1 least-way=0 settle-frames=1 {options}")).get_region_state()

    found = state('regions="region all 0,0 9,0 9,9 0,9; line gate 1,0 1,9"')
    assert found.get_n_regions() == 2 and found.get_n_rows() == 3
    assert found.find("gate") == 1 and found.find("no") == -1
    assert found.get_region(0).name == "all" and found.get_region(0).inside == 3 and not found.get_region(0).is_line
    assert found.get_region(1).is_line and found.get_region(1).forward == 0
    assert [found.is_inside(0, row) for row in range(4)] == [True, True, True, False]
    assert found.get_crossing(1, 0) == 0
    assert state("") is None


def classes():
    pipeline = Gst.parse_launch(
        "appsrc name=source format=time caps=video/x-raw,format=GRAY8,width=64,height=64,framerate=25/1 ! "
        "ccltrack confirm-frames=1 ! appsink name=sink"
    )
    frame = Gst.Buffer.new_wrapped(bytes(64 * 64))
    roi = GstVideo.buffer_add_video_region_of_interest_meta(frame, "person", 10, 10, 20, 30)
    parameter = Gst.Structure.new_empty("detection")
    parameter.set_value("confidence", 0.5)
    roi.add_param(parameter)
    GstVideo.buffer_add_video_region_of_interest_meta(frame, "car", 40, 10, 20, 30)
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_by_name("source").emit("push-buffer", frame)
    meta = GstCcl.buffer_get_ccl_meta(pipeline.get_by_name("sink").emit("pull-sample").get_buffer())
    pipeline.set_state(Gst.State.NULL)
    found = meta.get_classes()
    assert found.get_n_rows() == 2
    assert [found.get_name(row) for row in range(3)] == ["person", "car", None]
    assert found.get_confidence(0) == 0.5 and math.isnan(found.get_confidence(1)) and math.isnan(found.get_confidence(9))
    assert GstCcl.buffer_get_ccl_meta(labelled()).get_classes() is None


def metadata_outlives_its_buffer():
    meta = GstCcl.buffer_get_ccl_meta(labelled("attach-labels=true attach-mask=true"))
    components = meta.get_components()
    labels, stride = meta.get_labels()
    gc.collect()
    churn = [labelled() for _ in range(20)]  # buffers that would reuse freed memory
    assert [fields(c) for c in meta.get_components()] == EXPECTED
    assert (meta.get_frame_width(), meta.get_n_components()) == (WIDTH, 3)
    del meta
    gc.collect()
    churn += [labelled() for _ in range(20)]
    assert [fields(c) for c in components] == EXPECTED
    assert labels.get_size() >= stride * (HEIGHT - 1) + 4 * WIDTH


def labellers():
    line = "name=low threshold=0 ! ccl name=high threshold=254 min-area=2"
    buffer = labelled(line)
    for name, count in (("low", 3), ("high", 2), (None, 2)):
        assert GstCcl.buffer_get_ccl_meta_by_name(buffer, name).get_n_components() == count
    assert GstCcl.buffer_get_ccl_meta_by_name(buffer, "other") is None
    labeller = GstCcl.buffer_get_ccl_meta(buffer).get_labeller()
    settings = labeller.get_settings()
    del buffer
    gc.collect()
    assert labeller.get_name() == "high"
    assert settings.get_name() == "ccl" and settings.get_value("threshold") == 254
    assert settings.get_value("min-area") == 2 and settings.get_value("connectivity") == "8"


def untracked_components():
    meta = GstCcl.buffer_get_ccl_meta(labelled())
    for row in range(meta.get_n_rows()):
        assert meta.get_track(row) is None
        assert meta.get_ids(row) == []


def no_label_map():
    buffer = labelled()
    labels, _ = GstCcl.buffer_get_ccl_meta(buffer).get_labels()
    assert labels is None


def buffer_without_metadata():
    assert GstCcl.buffer_get_ccl_meta(Gst.Buffer.new()) is None


def own_metadata():
    component = GstCcl.CclComponent()
    component.label, component.area, component.width, component.height = 1, 12, 4, 3
    component.centroid_x = 1.5
    buffer = Gst.Buffer.new()
    GstCcl.buffer_add_ccl_meta(buffer, 8, 6, 5, [component], None, 0)
    meta = GstCcl.buffer_get_ccl_meta(buffer)
    assert [fields(c) for c in meta.get_components()] == [(1, 12, (0, 0, 4, 3), (1.5, 0.0))]
    assert meta.get_n_components() == 5 and meta.is_truncated()


def editing():
    received = labelled("attach-labels=true attach-contours=pixels attach-columns=luma")
    parts = Gst.BufferCopyFlags
    frame = received.copy_region(parts.FLAGS | parts.TIMESTAMPS | parts.META | parts.MEMORY, 0, received.get_size())
    meta = GstCcl.buffer_get_ccl_meta(frame)
    meta.select_rows([2, 0])
    meta.relabel([7, 5])
    track = GstCcl.CclTrackInfo()
    track.id, track.state = 11, GstCcl.CclTrackState.CONFIRMED
    other = track.copy()
    other.id = 12
    meta.set_tracks([track, other])
    meta.set_classes(GstCcl.CclClasses.new(["person", ""], [0.5, 1]))
    GstCcl.buffer_replace_ccl_meta(frame, meta)
    del meta
    edited = GstCcl.buffer_get_ccl_meta(frame)
    assert frame.get_n_meta(GObject.type_from_name("GstCclMetaAPI")) == 1
    assert [(c.label, c.area) for c in edited.get_components()] == [(7, 3), (5, 4)] and edited.get_n_components() == 2
    assert [edited.get_track(row).id for row in range(2)] == [11, 12] and edited.get_ids(1) == [12]
    assert edited.get_classes().get_name(0) == "person" and edited.get_classes().get_name(1) is None
    assert edited.get_columns().get_values(0) == [3 * 255, 4 * 255]
    assert edited.read_labels() is None
    contours = edited.get_contours()
    assert [contours.get_contour(i).label for i in range(contours.get_n_contours())] == [5, 7]
    assert list(contours.get_points(contours.find(7)[0]))[:2] == [2, 3]


def editing_with_regions_of_interest():
    received = labelled("meta=ccl+roi")
    parts = Gst.BufferCopyFlags
    frame = received.copy_region(parts.FLAGS | parts.TIMESTAMPS | parts.META | parts.MEMORY, 0, received.get_size())
    rois = GObject.type_from_name("GstVideoRegionOfInterestMetaAPI")
    assert frame.get_n_meta(rois) == 3
    meta = GstCcl.buffer_get_ccl_meta(frame)
    meta.select_rows([2])
    GstCcl.buffer_replace_ccl_meta(frame, meta)
    assert frame.get_n_meta(rois) == 1


def motion_on_the_ground():
    track = GstCcl.CclTrackInfo()
    assert track.get_position() == (False, 0, 0, 0) and track.get_speed() == (False, 0, 0)
    track.position_x, track.position_y, track.position_deviation = 5e6, -2.5, 0.5
    track.ground_velocity_x, track.ground_velocity_y, track.speed_deviation = 3, -4, 2
    assert track.get_position() == (True, 5e6, -2.5, 0.5)
    known, speed, deviation = track.get_speed()
    assert known and abs(speed - 18) < 1e-9 and deviation == 2


CASES = [
    components,
    truncated_table,
    label_map,
    label_map_as_bytes,
    contours,
    columns,
    region_state,
    classes,
    mask_as_bytes,
    metadata_outlives_its_buffer,
    labellers,
    untracked_components,
    no_label_map,
    buffer_without_metadata,
    own_metadata,
    editing,
    editing_with_regions_of_interest,
    motion_on_the_ground,
]
print(f"1..{len(CASES)}")
failed = 0
for number, case in enumerate(CASES, 1):
    try:
        case()
        print(f"ok {number} - {case.__name__}")
    except Exception:
        failed += 1
        print(f"not ok {number} - {case.__name__}")
        traceback.print_exc()
    sys.stdout.flush()
sys.exit(failed > 0)
