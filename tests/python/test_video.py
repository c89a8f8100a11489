# SPDX-License-Identifier: LGPL-2.1-or-later
"""Foreground masks and tracking."""
import pathlib
import re

import cudaccl
import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")


def scene(n_frames, size=(120, 160)):
    """Noise with a bright square that moves by two pixels per frame."""
    random = np.random.default_rng(1)
    background = random.integers(60, 90, size)
    for i in range(n_frames):
        frame = background + random.integers(-3, 4, size)
        frame[40:60, 10 + 2 * i:30 + 2 * i] = 200
        yield frame.astype(np.uint8)


def test_otsu_as_opencv():
    for frame in scene(3):
        _, expected = cv2.threshold(frame, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
        assert (cudaccl.Foreground(frame.shape, "otsu").apply(frame) == expected).all()


def test_threshold_roi_inversion_and_median():
    frame = next(scene(1))
    roi = np.zeros_like(frame)
    roi[:, :80] = 1
    foreground = cudaccl.Foreground(frame.shape, "threshold", roi_mask=roi, threshold=75)
    expected = np.where((frame > 75) & (roi > 0), 255, 0)
    assert (foreground.apply(frame) == expected).all()
    foreground.invert = True
    assert (foreground.apply(frame) == np.where((frame <= 75) & (roi > 0), 255, 0)).all()
    foreground.invert, foreground.denoise = False, "median-3x3"
    median = cv2.medianBlur(np.where(frame > 75, 255, 0).astype(np.uint8), 3)
    assert (foreground.apply(frame) == np.where(roi > 0, median, 0)).all()


@pytest.mark.parametrize("method", ["mog2", "codebook"])
def test_another_roi_mask_while_frames_come(method):
    """The model goes on: the masks are those of a model without a mask, where the present one is not 0."""
    settings = {"denoise": "none", "light": False, "hold": 1, "reduction": 1, "history": 50}
    foreground, whole = (cudaccl.Foreground((120, 160), method, **settings) for _ in range(2))
    roi = np.random.default_rng(1).integers(0, 2, (120, 160)).astype(np.uint8)
    found = 0
    for number, frame in enumerate(scene(60)):
        present = roi if 20 <= number < 40 else np.roll(roi, 9) if number >= 50 else np.ones_like(roi)
        if number in (20, 40, 50):
            foreground.set_roi_mask(None if number == 40 else present)
        expected = whole.apply(frame) * (present > 0)
        assert (foreground.apply(frame) == expected).all(), number
        found += number >= 20 and expected.any()
    assert found > 20


def test_roi_masks_that_are_refused():
    foreground = cudaccl.Foreground((4, 5), "threshold", roi_mask=np.eye(4, 5, dtype=np.uint8), threshold=75)
    frame = np.full((4, 5), 200, np.uint8)
    for wrong, error in ((np.ones((5, 5), np.uint8), ValueError), (np.ones((4, 5)), TypeError), ("mask.png", TypeError),
                         (np.ma.masked_equal(np.eye(4, 5, dtype=np.uint8), 1), TypeError)):
        with pytest.raises(error):
            foreground.set_roi_mask(wrong)
        assert (foreground.apply(frame) == 255 * np.eye(4, 5, dtype=np.uint8)).all()
    for argument, expected in (np.ones((4, 5), bool), 255), (None, 255), (np.zeros((4, 5), np.uint8), 0):
        foreground.set_roi_mask(argument)
        assert (foreground.apply(frame) == expected).all()


def test_background_model_finds_what_moves():
    foreground = cudaccl.Foreground((120, 160), denoise="median-5x5", history=50)
    boxes = []
    for frame in scene(40):
        out = np.full(frame.shape, 7, np.uint8)
        assert foreground.apply(frame, out=out) is out and set(np.unique(out)) <= {0, 255}
        boxes.append(cudaccl.components(out, min_area=100))
    assert len(boxes[0]) == 0
    last = boxes[-1]
    assert len(last) >= 1 and abs(int(last["x"].max()) + int(last["width"][last["x"].argmax()]) - 108) <= 3
    foreground.reset()
    assert not foreground.apply(frame).any()


def test_defaults_are_those_of_the_elements():
    # The manual of the elements has a table of the properties of the background model.
    manual = (pathlib.Path(__file__).parents[2] / "docs" / "foreground.md").read_text()
    model = cudaccl.Foreground((4, 4))
    table = manual[manual.index("| property | default |"):].partition("\n\n")[0]
    expected = dict(re.findall(r"^\| `([a-z-]+)` \| (\S+) \|", table, re.MULTILINE))
    assert {"history", "var-threshold", "learning-rate", "mixtures", "shadows", "light", "hold"} <= set(expected)
    for name, default in expected.items():
        value = getattr(model, name.replace("-", "_"))
        assert str(value).lower() == default or value == float(default), name
    assert model.closing == (1, 1) and model.denoise == "none" and model.threshold == 0
    tracker = cudaccl.Tracker((4, 4))
    assert (tracker.confirm_frames, tracker.max_lost, tracker.static_frames) == (3, 15, 50)


def test_the_warm_up_counts_seconds_of_the_video():
    noise = np.random.default_rng(1)
    found = {}
    for rate in (5, 25):
        foreground = cudaccl.Foreground((120, 160), frame_rate=rate, warm_up=2)
        found[rate] = []
        for number in range(4 * rate):
            frame = noise.integers(100, 104, (120, 160)).astype(np.uint8)
            frame[30:90, 25 * number // rate:][:, :30] = 250
            found[rate].append(bool(foreground.apply(frame).any()))
        assert not any(found[rate][:2 * rate - 1]) and any(found[rate][2 * rate + 1:])
    for arguments in ({"frame_rate": 0}, {"frame_rate": -1}, {"warm_up": -1}, {"warm_up": float("nan")}):
        with pytest.raises(ValueError):
            cudaccl.Foreground((4, 4), **arguments).apply(np.zeros((4, 4), np.uint8))


@pytest.mark.parametrize("rate", [2, 10])
def test_an_object_that_stops_stays_for_the_seconds_asked_for(rate):
    foreground = cudaccl.Foreground((60, 80), frame_rate=rate, absorb_after=6)
    found = []
    for number in range(26 * rate):
        frame = np.full((60, 80), 100, np.uint8)
        if number >= 12 * rate:
            frame[20:40, 30:60] = 200
        found.append(bool(foreground.apply(frame).any()))
    assert not any(found[:12 * rate]) and 3 - 1 <= sum(found) / rate <= 6 + 1
    with pytest.raises(ValueError):
        cudaccl.Foreground((4, 4), absorb_after=90000).apply(np.zeros((4, 4), np.uint8))


@pytest.mark.parametrize("method", ["threshold", "otsu", "mog2"])
def test_words_that_hold_bytes_have_the_masks_of_bytes(method):
    arguments = {"denoise": "median-3x3"}
    narrow = cudaccl.Foreground((120, 160), method, threshold=100, **arguments)
    wide = cudaccl.Foreground((120, 160), method, threshold=100 * 256, pixels="uint16", **arguments)
    for frame in scene(12):
        assert (wide.apply(frame.astype(np.uint16) * 256) == narrow.apply(frame)).all()
    with pytest.raises(TypeError, match="uint16"):
        wide.apply(frame)
    with pytest.raises(TypeError, match="uint8"):
        narrow.apply(frame.astype(np.uint16))


def test_threshold_between_two_bytes():
    frame = np.array([[25600, 25601, 65535, 0]], np.uint16)
    foreground = cudaccl.Foreground(frame.shape, "threshold", threshold=25600, pixels="uint16")
    assert foreground.apply(frame).tolist() == [[0, 255, 255, 0]]


@pytest.mark.parametrize("interleaved", [False, True])
def test_chroma_of_words(interleaved):
    narrow, wide = (cudaccl.Foreground((60, 81), chroma=True, shadows="mark", pixels=pixels) for pixels in ("uint8", "uint16"))
    for y, u, v in yuv_scene(32):
        expected = narrow.apply(y, chroma=(u, v))
        planes = [plane.astype(np.uint16) * 256 + 255 for plane in (u, v)]
        if interleaved:
            uv = np.stack(planes, axis=-1)
            planes = (uv[..., 0], uv[..., 1])
        assert (wide.apply(y.astype(np.uint16) * 256, chroma=tuple(planes)) == expected).all()
    assert {127, 255} <= set(np.unique(expected))


def test_closing_as_opencv():
    frame = np.zeros((40, 50), np.uint8)
    frame[8:30:2, 9:40:3] = 255
    padded = np.pad(frame, 10)  # OpenCV continues the frame otherwise
    expected = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, np.ones((5, 3), np.uint8))[10:-10, 10:-10]
    assert (cudaccl.Foreground(frame.shape, "threshold", closing=(3, 5)).apply(frame) == expected).all()


def yuv_scene(n_frames):
    """In the last frames, a background of one colour has an object of another colour and its shadow, which touch."""
    random = np.random.default_rng(2)
    for i in range(n_frames):
        y = (150 + random.integers(-2, 3, (60, 81))).astype(np.uint8)
        u, v = np.full((30, 41), 90, np.uint8), np.full((30, 41), 100, np.uint8)
        if i >= 30:
            y[20:30, 20:40] = 120  # the shadow: luma, and chroma from 128 on, times 0.8
            u[10:15, 10:20], v[10:15, 10:20] = 98, 106
            u[10:20, 20:30], v[10:20, 20:30] = 150, 160
        yield y, u, v


@pytest.mark.parametrize("interleaved", [False, True])
def test_chroma_and_shadows(interleaved):
    marks = cudaccl.Foreground((60, 81), chroma=True, shadows="mark")
    luma = cudaccl.Foreground((60, 81), shadows="keep")
    for y, u, v in yuv_scene(32):
        if interleaved:
            uv = np.stack([u, v], -1)
            u, v = uv[..., 0], uv[..., 1]
        mask, without = marks.apply(y, chroma=(u, v)), luma.apply(y)
    assert (mask[22:28, 22:38] == 127).mean() > 0.9
    assert (mask[22:38, 42:58] == 255).mean() > 0.9
    assert (without[22:28, 22:38] == 255).mean() > 0.9 and not without[22:38, 42:58].any()


def test_scene_changes():
    picture = cv2.GaussianBlur(np.random.default_rng(3).integers(0, 256, (60, 80), np.uint8), (9, 9), 0)
    picture = np.clip(4 * (picture.astype(int) - 96), 0, 255).astype(np.uint8)
    foreground = cudaccl.Foreground((60, 80), light=True)
    for _ in range(40):
        foreground.apply(picture)
        assert foreground.scene_change == "unchanged"
    changes = set()
    for _ in range(10):
        foreground.apply(np.zeros((60, 80), np.uint8))
        changes.add(foreground.scene_change)
    assert changes == {"unchanged", "covered"}


@pytest.mark.parametrize("chroma, error", [
    (None, ValueError), ((np.zeros((4, 5), np.uint8), np.zeros((2, 3), np.uint8)), ValueError),
    ((np.zeros((3, 3), np.uint8),) * 2, ValueError), ((np.zeros((4, 5), np.int16),) * 2, TypeError),
    ((np.zeros((4, 15), np.uint8)[:, ::3],) * 2, ValueError), ((np.zeros((4, 5), np.uint8)[::-1],) * 2, ValueError)])
def test_chroma_that_is_refused(chroma, error):
    foreground = cudaccl.Foreground((4, 5), chroma=True)
    with pytest.raises(error):
        foreground.apply(np.zeros((4, 5), np.uint8), chroma=chroma)
    with pytest.raises(ValueError, match="the model has none"):
        cudaccl.Foreground((4, 5)).apply(np.zeros((4, 5), np.uint8), chroma=(np.zeros((4, 5), np.uint8),) * 2)


@pytest.mark.parametrize("arguments", [
    {"method": "none"}, {"roi_mask": np.ones((5, 5), np.uint8)}, {"device": "gpu"}])
def test_foregrounds_that_are_refused(arguments):
    with pytest.raises(ValueError):
        cudaccl.Foreground((4, 5), **arguments)


@pytest.mark.parametrize("name, value", [
    ("denoise", "blur"), ("threshold", -1), ("history", 0), ("var_threshold", 0.0), ("learning_rate", 2.0),
    ("mixtures", 6), ("shadows", "none"), ("hold", 17), ("closing", (64, 0)), ("closing", (0, -1))])
def test_settings_that_are_refused(name, value):
    frame = np.zeros((4, 5), np.uint8)
    foreground = cudaccl.Foreground(frame.shape, "threshold" if name == "threshold" else "mog2")
    good = getattr(foreground, name)
    setattr(foreground, name, value)
    with pytest.raises(ValueError):
        foreground.apply(frame)
    setattr(foreground, name, good)
    assert foreground.apply(frame).shape == frame.shape


@pytest.mark.parametrize("frame, error", [
    (np.zeros((4, 5), np.int32), TypeError), (np.zeros((5, 4), np.uint8), ValueError),
    (np.zeros((4, 10), np.uint8)[:, ::2], ValueError), (np.zeros((4, 5), float), TypeError)])
def test_frames_that_are_refused(frame, error):
    with pytest.raises(error):
        cudaccl.Foreground((4, 5)).apply(frame)


def test_masked_frames_are_refused():
    masked = np.ma.masked_equal(np.eye(4, 5, dtype=np.uint8), 1)
    for call in (lambda: cudaccl.Foreground((4, 5)).apply(masked), lambda: cudaccl.Foreground((4, 5), roi_mask=masked),
                 lambda: cudaccl.label(np.eye(4, 5, dtype=np.uint8), out=masked.astype(np.int32))):
        with pytest.raises(TypeError, match="masked array"):
            call()
    assert cudaccl.Foreground((4, 5)).apply(np.ma.array(np.zeros((4, 5), np.uint8))).shape == (4, 5)


def table_of(*boxes):
    table = np.zeros(len(boxes), cudaccl.component_dtype)
    for i, (x, y, width, height) in enumerate(boxes):
        table[i] = (i + 1, width * height, x, y, width, height, x + (width - 1) / 2, y + (height - 1) / 2)
    return table


def test_tracker_keeps_an_identity():
    tracker = cudaccl.Tracker((480, 640), confirm_frames=3, max_lost=2)
    kinds = []
    for i in range(20):
        result = tracker.update(table_of((10 + 4 * i, 50, 20, 30), (500 - 3 * i, 200, 40, 20)))
        kinds += list(result.events["kind"])
    assert list(result.tracks["id"]) == [1, 2] and list(result.tracks["state"]) == [1, 1]
    assert list(result.tracks["age"]) == [19, 19] and list(result.tracks["label"]) == [1, 2]
    assert list(result.tracks["age"] - 25) == [-6, -6] and list(result.tracks["label"] - 3) == [-2, -1]
    np.testing.assert_allclose(result.tracks["velocity_x"], [4, -3], atol=0.2)
    np.testing.assert_allclose(result.tracks["x"], [86, 443], atol=2)
    np.testing.assert_allclose(result.tracks["width"], [20, 40], atol=2)
    assert list(zip(result.members["row"], result.members["track"])) == [(0, 0), (1, 1)]
    assert kinds == [0, 0]
    events = [event for _ in range(5) for event in tracker.update(table_of())[2]]
    assert [(event["kind"], event["id"]) for event in events] == [(1, 1), (1, 2)]
    tracker.reset()
    assert len(tracker.update(table_of((1, 1, 5, 5))).tracks) == 1


def two_bars(x):
    """Two objects whose boxes overlap and whose pixels do not, the second 50 pixels to the right."""
    frame = np.zeros((360, 640), np.uint8)
    frame[100:200, x:x + 200] = frame[200:300, x:x + 10] = 255
    frame[210:300, x + 50:x + 250] = frame[100:210, x + 240:x + 250] = 255
    return frame


@pytest.mark.parametrize("with_labels", [True, False])
def test_label_maps_distinguish_objects_whose_boxes_overlap(with_labels):
    tracker = cudaccl.Tracker((360, 640), frame_rate=10)
    for x in [100] * 19 + [150]:
        labels, table = cudaccl.label(two_bars(x))
        tracks = tracker.update(table, labels=labels if with_labels else None).tracks
    assert list(tracks["label"]) == ([1, 2] if with_labels else [2, 1])


def test_label_maps_that_a_tracker_refuses():
    labels, table = cudaccl.label(two_bars(100))
    tracker = cudaccl.Tracker(labels.shape)
    for wrong in (labels[1:], labels.T):
        with pytest.raises(ValueError):
            tracker.update(table, labels=wrong)
    with pytest.raises(TypeError):
        tracker.update(table, labels=labels.astype(float))
    with pytest.raises(ValueError):
        tracker.update(table[::-1], labels=labels)
    assert len(tracker.update(table, labels=labels).tracks) == 2


def test_tracker_takes_part_of_a_table():
    table = table_of((10, 50, 20, 30), (300, 200, 40, 20), (100, 100, 9, 9))
    assert len(cudaccl.Tracker((480, 640)).update(table[::2]).tracks) == 2
    assert len(cudaccl.Tracker((480, 640)).update(table[table["area"] > 100]).tracks) == 2


def test_tables_and_trackers_that_are_refused():
    tracker = cudaccl.Tracker((480, 640))
    for wrong in (np.zeros((3, 8)), [], None, np.zeros(2, cudaccl.volume_component_dtype)):
        with pytest.raises(TypeError):
            tracker.update(wrong)
    with pytest.raises(ValueError):
        tracker.update(table_of(), elapsed=0)
    for arguments in ({"max_tracks": 0}, {"max_components": 4097}):
        with pytest.raises(ValueError):
            cudaccl.Tracker((480, 640), **arguments)
    tracker.frame_rate = -1.0
    with pytest.raises(ValueError):
        tracker.update(table_of())
