# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well tracks agree with the truth.

MOTA and its parts: K. Bernardin, R. Stiefelhagen, "Evaluating multiple object tracking performance: the
CLEAR MOT metrics", 2008. IDF1: E. Ristani and others, "Performance measures and a data set for
multi-target, multi-camera tracking", 2016.
"""
import numpy
from scipy.optimize import linear_sum_assignment


def overlaps(boxes, others):
    """Intersection over union of each pair of boxes (x, y, width, height)."""
    a = numpy.asarray(boxes, float).reshape(-1, 1, 4)
    b = numpy.asarray(others, float).reshape(1, -1, 4)
    start = numpy.maximum(a[..., :2], b[..., :2])
    end = numpy.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    both = numpy.clip(end - start, 0, None).prod(axis=2)
    return both / (a[..., 2:].prod(axis=2) + b[..., 2:].prod(axis=2) - both)


def match(truth, tracks, former, least):
    """Pairs (object, track) of one frame: those of the frame before that still overlap, then as many
    others as possible, with the greatest overlap."""
    objects, identities = list(truth), list(tracks)
    shared = overlaps(list(truth.values()), list(tracks.values()))
    pairs = {}
    for i, name in enumerate(objects):
        identity = former.get(name)
        if (identity in tracks and identity not in pairs.values()
                and shared[i, identities.index(identity)] >= least):
            pairs[name] = identity
    rows = [i for i, name in enumerate(objects) if name not in pairs]
    columns = [j for j, identity in enumerate(identities) if identity not in pairs.values()]
    rest = shared[numpy.ix_(rows, columns)]
    for i, j in zip(*linear_sum_assignment(numpy.where(rest >= least, 1 - rest, 1000))):
        if rest[i, j] >= least:
            pairs[objects[rows[i]]] = identities[columns[j]]
    return pairs


def count_identities(truth, tracks, least):
    """IDTP: the boxes that are found when each object is paired with one track for all frames."""
    objects = sorted({name for frame in truth for name in frame})
    identities = sorted({identity for frame in tracks for identity in frame})
    common = numpy.zeros((len(objects), len(identities)))
    for boxes, others in zip(truth, tracks):
        near = overlaps(list(boxes.values()), list(others.values())) >= least
        for i, j in zip(*near.nonzero()):
            common[objects.index(list(boxes)[i]), identities.index(list(others)[j])] += 1
    return common[linear_sum_assignment(-common)].sum()


def score(truth, tracks, least=0.5):
    """Scores tracks against the truth, both lists of dicts from names to boxes, one dict a frame.
    A pair counts as found from this overlap on."""
    n_truth, n_tracks = (sum(map(len, frames)) for frames in (truth, tracks))
    former, n_found, n_switches = {}, 0, 0
    for boxes, others in zip(truth, tracks):
        pairs = match(boxes, others, former, least)
        n_switches += sum(former.get(name, identity) != identity for name, identity in pairs.items())
        n_found += len(pairs)
        former.update(pairs)
    return {
        "mota": 1 - (n_truth - n_found + n_tracks - n_found + n_switches) / max(n_truth, 1),
        "idf1": 2 * count_identities(truth, tracks, least) / max(n_truth + n_tracks, 1),
        "recall": n_found / max(n_truth, 1),
        "precision": n_found / max(n_tracks, 1),
        "switches": n_switches,
    }
