#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What passes regions and lines as CSV: counts, mean speeds and dwell are those of the events. Prints TAP."""
import collections
import csv
import datetime
import io
import json
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runner"))
import served  # noqa: E402
import tap  # noqa: E402
from served import wait_for  # noqa: E402

YARD = 'the "yard", left'
# 16 pixels are a metre: the square moves at up to 11.25 km/h.
# The drawn object comes back every 2.4 seconds, which the model must not learn.
KEYS = f"""ccl.min-area=20
ccl.absorb-after=3600
ccltrack.least-way=0
ccltrack.ground=0,0 0,0; 160,0 10,0; 160,120 10,-7.5; 0,120 0,-7.5
ccltrack.regions=line gate 80,0 80,120 faster-than=4; region '{YARD}' 40,0 100,0 100,120 40,120 slower-than=30
"""
COLUMNS = "begin kind name entered left stayed forward backward faster slower mean_speed mean_dwell".split()


def objects_of(lines):
    """id → begin, end, places and greatest speed that events tell."""
    tracks = {}
    for line in lines:
        if line.get("event") == "appeared":
            tracks[line["id"]] = {"begin": line["utc"], "regions": set(), "end": None}
        elif line.get("id") in tracks and line.get("event"):
            track = tracks[line["id"]]
            if place := line.get("region", line.get("line")):
                track["regions"].add(place)
            if line["event"] == "vanished":
                track["end"] = line["utc"]
    return tracks


def check_objects(server, tracks):
    """The list of objects is what the events say, as a whole, by region and by time."""
    objects = server.get("/api/objects?camera=a&limit=2000")["objects"]
    tap.equal({item["id"]: set(item["regions"]) for item in objects}, {key: track["regions"] for key, track in tracks.items()})
    tap.equal([item["number"] for item in objects], sorted((item["number"] for item in objects), reverse=True), "order")
    for item in objects:
        assert 1 <= len(item["path"]) <= 32 and all(0 <= part <= 100 for place in item["path"] for part in place), item
        assert item["begin"] <= item["end"] <= tracks[item["id"]]["end"], (item, tracks[item["id"]])
    # The square moves by 50 pixels a second of 160 × 120, at 40 to 80 from the top.
    longest = max(objects, key=lambda item: max(x for x, _ in item["path"]) - min(x for x, _ in item["path"]))
    assert max(x for x, _ in longest["path"]) - min(x for x, _ in longest["path"]) > 20, longest
    assert all(55 < y < 75 for _, y in longest["path"]), longest
    assert 9 < max(item.get("speed", 0) for item in objects) < 25, objects
    for query, wanted in (("region=gate", [item for item in objects if "gate" in item["regions"]]), ("region=none", []),
                          ("limit=1", objects[:1]), ("to=2020-01-01T00:00:00Z", []), ("from=2020-01-01T00:00:00Z", objects),
                          ("from=2100-01-01T00:00:00Z", [])):
        tap.equal(server.get(f"/api/objects?camera=a&{query}")["objects"], wanted, query)
    tap.equal(server.request("/api/objects?from=yesterday")[0], 400)
    tap.equal(server.request("/api/objects", "DELETE")[0], 405)


def get_objects(server):
    """Without their files, which come later."""
    return [{key: value for key, value in item.items() if key not in ("picture", "clip")}
            for item in server.get("/api/objects?camera=a")["objects"]]


def expected(lines):
    """name → column → sum over the events, or list of values."""
    sums = collections.defaultdict(lambda: collections.defaultdict(int))
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines:
        name = line.get("region", line.get("line"))
        if name is None:
            continue
        sums[name][line.get("direction", line["event"])] += 1
        if line["event"] in ("left", "crossed"):
            values[name]["speed"].append(line["speed"])
        if line["event"] == "left":
            values[name]["dwell"].append(line["dwell"])
    return sums, values


def get_rows(server, query):
    status, headers, body = server.request("/api/cameras/a/traffic.csv" + query)
    tap.equal(status, 200)
    tap.equal(headers["Content-Type"], "text/csv; charset=utf-8")
    rows = list(csv.DictReader(io.StringIO(body.decode(), newline="")))
    tap.equal(body.decode().split("\r\n")[0].split(","), COLUMNS)
    return rows


def check(rows, sums, values):
    for name, kinds in sums.items():
        mine = [row for row in rows if row["name"] == name]
        tap.equal({row["kind"] for row in mine}, {"line" if name == "gate" else "region"}, name)
        for column in COLUMNS[3:10]:
            found = sum(int(row[column] or 0) for row in mine)
            tap.equal(found, kinds.get(column, 0), f"{name}: {column}")
        for column, numbers in values[name].items():
            low, high = min(numbers), max(numbers)
            for row in mine:
                if row["mean_" + column]:
                    assert low - 0.01 <= float(row["mean_" + column]) <= high + 0.01, (name, column, row, numbers)
            if len(mine) == 1:
                mean = sum(numbers) / len(numbers)
                assert abs(float(mine[0]["mean_" + column]) - mean) < 0.01, (name, column, mine, mean)


def traffic():
    """rows have the events of each region and line, their mean speed and dwell"""
    configuration = served.folder / "traffic.conf"
    configuration.write_text(f"[cameras]\n{KEYS}[camera a]\nuri={served.video('moving', (12, True))}\nresults=events\n"
                             # The program would end with its last camera.
                             f"[camera b]\nuri={served.video('still', (1, False))}\nloop=true\npace=true\n")
    with served.Served("-c", configuration, "-o", "-") as server:
        wait_for(lambda: any(line.get("state") == "ended" for line in server.events("state"))
                 or server.process.poll() is not None, "no end", 60)
        tap.equal(server.process.poll(), None, "\n".join(server.log))
        sums, values = expected([line for line in server.lines if line["source"] == "a"])
        assert sums["gate"]["backward"] + sums["gate"]["forward"] > 1, server.lines
        assert sums["gate"]["faster"] > 1 and sums[YARD]["slower"] > 1 and sums[YARD]["left"] > 1, server.lines
        check(get_rows(server, ""), sums, values)
        day = get_rows(server, "?step=86400")
        assert len(day) < 5, day
        check(day, sums, values)
        for row in get_rows(server, "?seconds=3600&step=119"):
            assert row["begin"].endswith(":00.000000Z"), row
        check_objects(server, objects_of([line for line in server.lines if line["source"] == "a"]))
        tap.equal(server.request("/api/cameras/a", "DELETE")[0], 204)
        tap.equal(get_rows(server, ""), [], "of a removed camera")
        tap.equal(server.get("/api/objects?camera=a")["objects"], [], "of a removed camera")


def old_objects():
    """objects of former runs are listed for keep-days; lines that are damaged are left out"""
    store = served.folder / "objects"
    store.mkdir()

    def at(days):
        return time.strftime("%Y-%m-%dT%H:%M:%S.250000Z", time.gmtime(time.time() - days * 86400))

    later = at(0.5)
    recent = {"number": 8, "source": "a", "id": 3, "begin": at(1), "end": at(1), "speed": 12.5, "regions": ["gate"],
              "path": [[1.5, 99.9], [50.0, 50.0]]}
    lines = [json.dumps({**recent, "begin": at(9), "end": at(8)}), "{", '{"source":"a","begin":7,"end":[]}', "\0" * 50,
             json.dumps({**recent, "source": "gone"}), json.dumps({**recent, "regions": 1, "path": [[1], {}, 2], "end": later}),
             json.dumps(recent)]
    (store / "objects.ndjson").write_text("\n".join(lines) + "\n")
    configuration = served.folder / "objects.conf"
    configuration.write_text(f"[ccl-watch]\nfolder={store}\nkeep-days=7\n[camera a]\nuri={served.video('still', (1, False))}\n"
                             "loop=true\npace=true\n")
    with served.Served("-c", configuration) as server:
        objects = wait_for(lambda: server.get("/api/objects?camera=a")["objects"], "the objects of a former run")
        tap.equal([{key: item[key] for key in recent if key != "number"} for item in objects],
                  [{key: value for key, value in {**recent, **changed}.items() if key != "number"} for changed in
                   ({}, {"regions": [], "path": [], "end": later})])
        assert not [line for line in server.log if "CRITICAL" in line], server.log
        server.stop()


def clips_of_objects():
    """an object has the clip of a long motion that shows it, and the part of the clip"""
    store = served.folder / "long"
    (store / "a").mkdir(parents=True)
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86400))
    for clip in "10-00-00", "10-10-03", "10-20-06":  # a motion that began at ten
        (store / "a" / f"{day}T{clip}.000Z.mp4").write_bytes(b"clip")
    (store / "a" / f"{day}T10-12-00.000Z.jpg").write_bytes(b"picture")
    rows = [("10:00:01", "10:00:31", "10-00-00", 0, 46), ("10:09:59", "10:10:20", "10-00-00", 597, 635),
            ("10:19:03", "10:19:33", "10-10-03", 538, 585), ("11:00:00", "11:00:10", "10-20-06", 2392, 2419)]
    (store / "objects.ndjson").write_text("".join(json.dumps(
        {"number": i + 1, "source": "a", "id": i, "begin": f"{day}T{begin}Z", "end": f"{day}T{end}Z", "motion": f"{day}T10:00:00Z",
         "regions": [], "path": []}) + "\n" for i, (begin, end, *_) in enumerate(rows)))
    with served.Served("--folder", store, "--set", "pace=true", "--set", "loop=true", f"a={served.video('dark', (1, False))}") as server:
        objects = wait_for(lambda: (found := server.get("/api/objects?camera=a")["objects"]) and "clip" in found[0] and found, "objects with clips")
        tap.equal([(item["clip"], item["clip_from"], item["clip_to"]) for item in objects[::-1]],
                  [(f"/media/a/{day}T{clip}.000Z.mp4", begin, end) for _, _, clip, begin, end in rows])


def removed_inside():
    """what a removed camera still sends while it ends has no rows"""
    configuration = served.folder / "removed.conf"
    configuration.write_text(f"[cameras]\npace=true\n{KEYS.splitlines()[0]}\n"
                             "ccltrack.regions=region all 0,0 160,0 160,120 0,120\n"
                             f"[camera a]\nuri={served.video('long', (60, True))}\n"
                             f"[camera b]\nuri={served.video('still', (1, False))}\nloop=true\n")
    with served.Served("-c", configuration) as server:
        wait_for(lambda: server.events("entered"), "nothing entered")
        tap.equal(server.request("/api/cameras/a", "DELETE")[0], 204)
        wait_for(lambda: server.events("removed"), "its last line")
        assert server.events("left"), "the track did not end"
        tap.equal(get_rows(server, ""), [])


def nothing():
    """a camera without regions and one that does not exist have no rows; other requests are refused"""
    configuration = served.folder / "nothing.conf"
    configuration.write_text(f"[camera a]\nuri={served.video('still', (1, False))}\nloop=true\npace=true\n")
    with served.Served("-c", configuration) as server:
        tap.equal(get_rows(server, "?step=nonsense&seconds=-1"), [])
        tap.equal(server.request("/api/cameras/b/traffic.csv")[0], 200)
        tap.equal(server.request("/api/cameras/a/traffic.csv", "PUT", {})[0], 405)
        tap.equal(server.request("/api/cameras/a/traffic")[0], 404)


def stored(path):
    """The rows of the file by camera, minute, kind and name: the last one of each holds."""
    rows = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        row = json.loads(line)
        rows[tuple(row[key] for key in ("camera", "begin", "kind", "name"))] = row
    return rows


def totals(rows):
    """name → the sum of each count."""
    sums = collections.defaultdict(lambda: collections.Counter())
    for row in rows:
        sums[row["name"]].update({column: int(row.get(column) or 0) for column in COLUMNS[3:10]})
    return {name: dict(counts) for name, counts in sums.items()}


def survives():
    """rows survive SIGKILL and SIGTERM, and later events add to them; those of a removed camera go"""
    path = served.folder / "kept" / "traffic.ndjson"
    still = served.video("still", (1, False))

    def start(video):
        configuration = served.folder / "survives.conf"
        configuration.write_text(f"[cameras]\n{KEYS}[camera a]\nuri={video}\nresults=events\n"
                                 f"[camera b]\nuri={still}\nloop=true\npace=true\n")
        return served.Served("-c", configuration, "-o", "-", "--folder", path.parent)

    def play(server):
        wait_for(lambda: any(line.get("state") == "ended" for line in server.events("state")), "no end", 60)
        return get_rows(server, "")

    with start(served.video("moving", (12, True))) as server:
        first = play(server)
        assert totals(first)["gate"]["faster"] > 1, first
        wait_for(lambda: totals(stored(path).values()) == totals(first), "the file")
        server.stop(signal.SIGKILL)
    with start(still) as server:
        wait_for(lambda: get_rows(server, "") == first, "the rows before SIGKILL")
    with open(path, "a") as file:  # as a crash leaves it
        file.write('{"camera":"a","begin":"20')
    with start(served.video("moving", (12, True))) as server:
        second = play(server)
        sums, values = expected([line for line in server.lines if line["source"] == "a"])
        added = {name: collections.Counter(totals(first)[name]) + collections.Counter(kinds)
                 for name, kinds in sums.items()}
        for name, counts in totals(second).items():
            tap.equal({column: counts[column] for column in counts if counts[column]},
                      {column: added[name][column] for column in counts if added[name][column]}, name)
        objects = get_objects(server)
        tap.equal(sum("gate" in item["regions"] for item in objects) > 1, True, "objects at the gate")
        tap.equal(server.stop(), 0)
    with start(still) as server:
        wait_for(lambda: get_rows(server, "") == second, "the rows before SIGTERM")
        wait_for(lambda: get_objects(server) == objects, "the objects before SIGTERM")
        tap.equal(server.request("/api/cameras/a", "DELETE")[0], 204)
        tap.equal(server.stop(), 0)
    tap.equal(path.read_text(), "", "without the camera")
    tap.equal(path.with_name("objects.ndjson").read_text(), "", "objects without the camera")


def bounded():
    """a file whose lines are mostly superseded is written anew; damaged and old lines are left out"""
    path = served.folder / "bounded" / "traffic.ndjson"
    path.parent.mkdir()
    minute = int(time.time()) // 60 * 60 - 600
    row = {"camera": "a", "kind": "line", "name": "gate", "speed_sum": 30.0, "speeds": 4}

    def begin(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

    lines = [json.dumps({**row, "begin": begin(minute), "forward": i}) for i in range(1, 3001)]
    lines += ["nonsense", '{"camera":"a"}', '["a"]', '{"camera":7,"begin":{},"kind":[],"name":1}', "\0" * 50,
              json.dumps({**row, "begin": begin(minute - 90000), "forward": 7}),
              json.dumps({**row, "begin": begin(minute), "camera": "nobody", "forward": 7})]
    path.write_text("\n".join(lines) + "\n")
    configuration = served.folder / "bounded.conf"
    configuration.write_text(f"[camera a]\nuri={served.video('still', (1, False))}\nloop=true\npace=true\n")
    with served.Served("-c", configuration, "--folder", path.parent) as server:
        found = wait_for(lambda: get_rows(server, ""), "the rows")
        tap.equal([(one["name"], one["forward"], one["mean_speed"]) for one in found], [("gate", "3000", "7.50")])
        tap.equal(server.stop(), 0)
        assert not [line for line in server.log if "CRITICAL" in line], server.log
    tap.equal([one["forward"] for one in map(json.loads, path.read_text().splitlines())], [3000], "the file")


def busy_camera():
    """of more objects than are kept, the oldest ones of the busiest camera go, and not those that a quiet one saw before"""
    def minute(i):
        return (datetime.datetime(2026, 1, 1) + datetime.timedelta(minutes=i)).isoformat() + "Z"

    folder = served.folder / "busy"
    folder.mkdir()
    with open(folder / "objects.ndjson", "w") as file:
        for i in range(21000):
            time_of = minute(i)
            file.write(json.dumps({"number": i + 1, "source": "quiet" if i < 10 else "busy", "id": i, "begin": time_of, "end": time_of,
                                   "regions": [], "path": []}) + "\n")
    still = served.video("still", (1, False))
    with served.Served("--folder", folder, "--set", "pace=true", "--set", "loop=true", f"quiet={still}", f"busy={still}") as server:
        wait_for(lambda: server.get("/api/objects?camera=busy")["objects"], "the objects of the file")
        tap.equal([item["id"] for item in server.get("/api/objects?camera=quiet")["objects"]], list(range(9, -1, -1)))
        oldest = server.get(f"/api/objects?camera=busy&to={minute(1100)}")["objects"]
        tap.equal([item["id"] for item in oldest], list(range(1100, 1009, -1)), "20000 are kept in all")


sys.exit(tap.run(traffic, busy_camera, old_objects, clips_of_objects, removed_inside, nothing, survives, bounded))
