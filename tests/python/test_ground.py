# SPDX-License-Identifier: LGPL-2.1-or-later
"""Positions in metres and speeds, against a camera that is computed here."""
import numpy as np
import pytest

import cudaccl

RATE = 25


def camera():
    """The matrix of a camera 6 m above the ground that looks down by 25 degrees: metres (x, y, height) to pixels."""
    angle, focal = np.radians(25), 900
    rotation = np.array([[1, 0, 0], [0, -np.sin(angle), -np.cos(angle)], [0, np.cos(angle), -np.sin(angle)]])
    intrinsic = np.array([[focal, 0, 640], [0, focal, 360], [0, 0, 1]])
    return intrinsic @ rotation @ np.hstack([np.eye(3), -np.array([[0], [0], [6]])])


def project(points):
    homogeneous = camera() @ np.vstack([np.asarray(points, float).T, np.ones(len(points))])
    return (homogeneous[:2] / homogeneous[2]).T


def ground_of(metres):
    metres = np.asarray(metres, float)
    return cudaccl.Ground(np.hstack([project(np.hstack([metres, np.zeros((len(metres), 1))])), metres]))


CORNERS = [(-4, 8), (4, 8), (6, 30), (-6, 30)]


def test_four_points_are_exact():
    ground = ground_of(CORNERS)
    places = np.random.default_rng(1).uniform([-8, 7], [8, 60], (100, 2))
    np.testing.assert_allclose(ground.locate(project(np.hstack([places, np.zeros((100, 1))]))), places, rtol=1e-6, atol=1e-6)
    assert ground.residual < 1e-6
    horizon = 360 - 900 * np.tan(np.radians(25))
    assert np.isnan(ground.locate([[640, horizon - 5]])).all()


def test_more_points_have_a_residual():
    metres = np.array([*CORNERS, (0, 15), (2, 20)], float)
    pixels = project(np.hstack([metres, np.zeros((6, 1))]))
    pixels[4, 0] += 3
    assert 0.3 < cudaccl.Ground(np.hstack([pixels, metres])).residual < 3


def test_a_walker_has_its_speed():
    ground, tracker = ground_of(CORNERS), cudaccl.Tracker((720, 1280), frame_rate=RATE)
    for i in range(75):
        x, y = -3 + 1.5 * i / RATE, 15
        (left, bottom), (right, top) = project([(x - 0.3, y, 0), (x + 0.3, y, 1.75)])
        box = [round(v) for v in (left, top, right - left, bottom - top)]
        table = np.zeros(1, cudaccl.component_dtype)
        table[0] = (1, box[2] * box[3], *box, box[0] + (box[2] - 1) / 2, box[1] + (box[3] - 1) / 2)
        tracks = tracker.update(table).tracks
    motions = ground.motion(tracker.feet, RATE)
    assert len(motions) == len(tracks) == 1
    motion = motions[0]
    assert abs(motion["speed"] - 1.5 * 3.6) < 2 * motion["speed_deviation"] and abs(motion["speed"] - 5.4) < 0.5
    assert abs(motion["velocity_x"] - 1.5) < 0.15 and abs(motion["velocity_y"]) < 0.3
    assert abs(motion["x"] - x) < 0.3 and abs(motion["y"] - y) < 0.5
    assert motion["position_deviation"] ** 2 == pytest.approx(
        np.linalg.eigvalsh([[motion["xx"], motion["xy"]], [motion["xy"], motion["yy"]]]).max())


def test_a_foot_beyond_the_horizon_has_no_motion():
    feet = np.zeros(2, tracker_feet := cudaccl.Tracker((4, 4)).feet.dtype)
    feet["x"], feet["y"] = 640, [-300, 500]
    feet["height"] = 50
    motions = ground_of(CORNERS).motion(feet, RATE)
    assert np.isnan(motions[0]["speed"]) and motions[1]["speed"] == 0 and tracker_feet == cudaccl.foot_dtype


@pytest.mark.parametrize("points", [[(0, 0, 0, 0)] * 4, [(0, 0, 0, 0), (1, 0, 1, 0), (2, 0, 2, 0), (0, 1, 0, 1)],
                                    [(0, 0, 0, 0), (1, 0, 1, 0), (1, 1, 1, 1)], [(1, 2, 3)] * 4])
def test_points_that_determine_no_ground(points):
    with pytest.raises(ValueError):
        cudaccl.Ground(points)


def test_wrong_arguments():
    ground = ground_of(CORNERS)
    with pytest.raises(TypeError):
        ground.motion(np.zeros((2, 12)), RATE)
    with pytest.raises(ValueError):
        ground.motion(np.zeros(1, cudaccl.foot_dtype), 0)
    with pytest.raises(ValueError):
        ground.locate([1, 2])
