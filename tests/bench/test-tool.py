#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-bench and plot.py as a user calls them, on tiny inputs. Prints TAP.

usage: test-tool.py CCL_BENCH MASKS [FOLDER_OF_THE_SIMULATED_DRIVER]
"""
import csv
import importlib.util
import itertools
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree

tool, masks = map(os.path.abspath, sys.argv[1:3])
plot = os.path.join(os.path.dirname(masks), "..", "..", "bench", "plot.py")
has_matplotlib = importlib.util.find_spec("matplotlib") is not None
driver = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
scratch = tempfile.mkdtemp(prefix="ccl-bench-")
tests = []

# Meson puts the simulated driver on the path of all that depends on it.
library_path = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path and
                not (driver and os.path.realpath(path) == os.path.realpath(driver))]
NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "LD_LIBRARY_PATH": ":".join(library_path)}
QUICK = ["--repetitions", "2", "--seconds", "0.1"]


def test(function):
    tests.append(function)
    return function


def run(*arguments, environment=NO_GPU, status=0):
    """Runs the tool without a GPU unless told otherwise; checks the exit status."""
    result = subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=240,
                            env={**os.environ, **environment}, cwd=scratch)
    assert result.returncode == status, \
        f"{arguments}: exit status {result.returncode}, not {status}\n{result.stdout}{result.stderr}"
    return result


def measurements(result):
    """The rows of one mode; the header, if there is one, has a # on each line."""
    lines = [line for line in result.stdout.splitlines() if line and not line.startswith("# ")]
    return list(csv.DictReader(lines))


def checks(result, device):
    """For each labeller of a device, the numbers of inputs by outcome, in the order of the columns."""
    return {row["implementation"]: [row[name] for name in ("equal", "different", "not offered", "failed", "unchecked")]
            for row in measurements(result) if row["implementation"].startswith(device + " ")}


def measured(result):
    """The measurements of implementations that support the inputs: some label images, others volumes."""
    return [row for row in measurements(result) if row["outcome"] != "not offered"]


def problems(result):
    """The lines on standard error, leaving out that there is no OpenCV to compare with."""
    return [line for line in result.stderr.splitlines() if "no OpenCV" not in line]


def draw(*arguments, status=0):
    """Runs plot.py; returns its standard output, or its standard error if it has to fail."""
    result = subprocess.run([sys.executable, plot, *arguments], capture_output=True, text=True, timeout=120,
                            cwd=scratch)
    assert result.returncode == status, f"{arguments}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stderr if status else result.stdout


def looks(path):
    """The texts of a plot, and for each curve with markers its colour and marker."""
    curves, texts = [], []
    for element in xml.etree.ElementTree.parse(path).iter():
        tag = element.tag.split("}")[1]
        if tag == "text":
            texts.append(element.text)
        if tag == "g" and element.get("id", "").startswith("line2d"):
            parts = [each.tag.split("}")[1] for each in element.iter()]
            line = next((each for each in element if each.tag.endswith("path")), None)
            use = next((each for each in element.iter() if each.tag.endswith("use")), None)
            if line is not None and use is not None and "clip-path" in line.keys() and "defs" in parts:
                colour = re.search("stroke: (#[0-9a-f]+)", line.get("style"))
                curves.append((colour[1], use.get("{http://www.w3.org/1999/xlink}href")))
    return texts, curves


def folder(name, **files):
    path = os.path.join(scratch, name)
    os.mkdir(path)
    for file, data in files.items():
        with open(os.path.join(path, file.replace("_", ".")), "wb") as stream:
            stream.write(data)
    return path


def pgm(width, height, value):
    return b"P5 %d %d 255\n" % (width, height) + bytes([value]) * (width * height)


@test
def every_labeller_is_right():
    result = run("check", "noise:61x43:g=1-2:d=20-80+30", "blobs:160x120", masks + "/otsu_graf1.png")
    rows = checks(result, "cpu")
    assert len(rows) >= 2
    for row, (equal, different, not_offered, failed, unchecked) in rows.items():
        is_of_images = "-3d," not in row
        assert (equal, not_offered) == (("8", "0") if is_of_images else ("0", "8")), row
        assert (different, failed, unchecked) == ("0", "0", "0"), row


@test
def every_labeller_of_volumes_is_right():
    for connectivity in ("6", "18", "26"):
        result = run("check", "--connectivity", connectivity, "noise:31x22x13:g=1-2:d=10-50+20", "hilbert:order=3")
        rows = list(checks(result, "cpu").values())
        assert ["7", "0", "0", "0", "0"] in rows, result.stdout
        assert all(row[1] == "0" and row[3:] == ["0", "0"] for row in rows), result.stdout
        result = run("average", *QUICK, "--connectivity", connectivity, "noise:31x22x13:g=1:d=20", "--csv", "-")
        assert "runs-3d" in {row["algorithm"] for row in measured(result)}


@test
def average_has_bandwidth_bounds_first_and_figures_that_agree():
    result = run("average", *QUICK, "--csv", "-", "noise:64x48:g=1:d=50", "full:32x32")
    rows = measured(result)
    assert [row["algorithm"] for row in rows[:3]] == ["read 1", "copy 1 to 1", "read 1, write 4"]
    assert {row["set"] for row in rows} == {"noise 64x48", "full 32x32"}
    for row in rows:
        assert row["mode"] == "average" and row["outcome"] == "measured"
        q1, median, q3 = (float(row[name]) for name in ("wall_q1_us", "wall_us", "wall_q3_us"))
        assert 0 < float(row["wall_min_us"]) <= q1 <= median <= q3
        # On a busy machine, threads that wait for each other may need a whole turn for one run.
        assert int(row["wall_n"]) >= (2 if row["threads"] == "1" else 1) and row["gpu_us"] == ""
    foreground = {row["set"]: float(row["foreground"]) for row in rows}
    assert foreground["full 32x32"] == 1 and 0.4 < foreground["noise 64x48"] < 0.6
    rows = measurements(run("average", *QUICK, "noise:64x48:g=1:d=50"))  # the same without --csv
    assert {row["set"] for row in rows} == {"noise 64x48"}


@test
def tables_have_means_and_bounds():
    """Of two inputs of which one took four times as long, and one run that was given up."""
    rows = [{"mode": "average", "set": "set", "input": str(i), "width": 10, "height": 10, "depth": 1, "device": "cpu",
             "maker": "cudaccl", "algorithm": name, "delivers": delivers, "threads": 1, "outcome": "measured",
             "wall_us": time, "wall_q1_us": 0.9 * time, "wall_q3_us": 1.1 * time, "turns": turns}
            for name, delivers, turns, times in (("read 1, write 4", "-", 5, (1, 4)), ("runs", "raw labels", 3, (2, 8)),
                                                 ("half", "raw labels", 5, (2,)), ("slow", "raw labels", 5, (7, 9)))
            for i, time in enumerate(times)]
    rows[-1] = {key: value for key, value in rows[-1].items() if not key.startswith("wall")}
    rows[-1] |= {"outcome": "too slow", "at_least_us": 9}
    saved = os.path.join(scratch, "means.json")
    for mode, title, expected in (
            ("average", "average: set: mean of 2 inputs",
             [["bandwidth bound: read 1, write 4", "", "2.5", "20 %", "25000", "1", "5"],
              ["runs", "", "5", "20 %", "50000", "2", "3"], ["slow", "", "> 8", "", "", "", "5"]]),
            ("growth", "growth: set 1: mean of 1 input",
             [["bandwidth bound: read 1, write 4", "", "4", "20 %", "40000", "1", "5"],
              ["runs", "", "8", "20 %", "80000", "2", "3"], ["slow", "", "> 9", "", "", "", "5"]])):
        with open(saved, "w") as stream:
            json.dump({"machine": {}, "runs": [{"mode": mode, "repetitions": 5, "rows": rows}]}, stream)
        assert markdown_rows(draw(saved, "--tables"), title) == expected, draw(saved, "--tables")
        assert "Noisy" not in draw(saved, "--tables")
        rows[0] |= {"wall_q1_us": rows[0]["wall_us"] / 2}
        with open(saved, "w") as stream:
            json.dump({"machine": {}, "runs": [{"mode": mode, "repetitions": 5, "rows": rows}]}, stream)
        assert "Noisy: 17 % of the measurements" in draw(saved, "--tables")
        rows[0] |= {"wall_q1_us": 0.9 * rows[0]["wall_us"]}


@test
def checks_are_summed_and_accesses_averaged():
    """Of an exact labeller, an inexact one and a peer; of two images with two kernels."""
    def check(name, maker, *numbers):
        return {"implementation": name, "by": maker, **dict(zip(("equal", "different", "failed"), map(float, numbers)))}
    checks = [check("cpu runs", "cudaccl", 2, 1, 0), check("cuda le (inexact by its paper)", "cudaccl", 0, 3, 0),
              check("cpu opencv", "OpenCV", 3, 0, 0), check("cpu sauf", "cudaccl", 1, 1, 1)]
    accesses = [{"set": "set", "input": name, "pixels": pixels, "algorithm": "bke", "delivers": "raw labels",
                 "kernel": kernel, "reads": reads, "writes": 10.0, "atomics": 0.0}
                for name, pixels, kernel, reads in (("a", 10.0, "init", 20.0), ("a", 10.0, "merge", 40.0),
                                                    ("b", 30.0, "init", 60.0), ("b", 30.0, "merge", 40.0))]
    saved = os.path.join(scratch, "counts.json")
    with open(saved, "w") as stream:
        json.dump({"machine": {}, "runs": [{"mode": "check", "rows": checks}, {"mode": "memory", "rows": accesses}]}, stream)
    text = draw(saved, "--tables")
    assert [row for row in markdown_rows(text, "check") if row[0].startswith("all")] == [
        ["all of this project", "-", "3", "2", "1"], ["all that may be inexact", "-", "0", "3", "0"],
        ["all of other makers", "-", "3", "0", "0"]], text
    assert [row[4:] for row in markdown_rows(text, "memory")] == [
        ["init", "40", "10", "0", "2", "0.5", "0"], ["merge", "40", "10", "0", "2", "0.5", "0"],
        ["all", "80", "20", "0", "4", "1", "0"]], text


@test
def the_header_names_machine_versions_and_command():
    result = run("average", *QUICK, "full:8x8")
    for name in ("command: ccl-bench average", "date: 20", "version: cudaccl ", "compiler: ", "cpu: ", "threads: "):
        assert f"# {name}" in result.stdout, name


@test
def json_holds_the_same():
    file = os.path.join(scratch, "out.json")
    run("density", *QUICK, "noise:32x32:g=1,4:d=10,90", "--json", file)
    with open(file) as stream:
        document = json.load(stream)
    assert document["machine"]["command"].startswith("ccl-bench density") and document["problems"] == []
    entries = document["runs"][0]["rows"]
    assert document["runs"][0]["mode"] == "density"
    assert {entry["input"] for entry in entries} == {"g=1 d=10", "g=1 d=90", "g=4 d=10", "g=4 d=90"}
    entries = [entry for entry in entries if entry["outcome"] != "not offered"]
    assert all(entry["wall_q1_us"] <= entry["wall_us"] <= entry["wall_q3_us"] for entry in entries)
    assert all("gpu_us" not in entry and isinstance(entry["width"], float | int) for entry in entries)


def markdown_rows(text, title):
    """The cells of each row of a table by its title's beginning."""
    lines = iter(text.splitlines())
    assert any(line.startswith(f"### {title}") for line in lines), f"no {title} in:\n{text}"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in
            itertools.takewhile(lambda line: line.startswith("|"), itertools.islice(lines, 1, None))]
    return rows[2:]


@test
def table_prints_ratios_and_the_worst_input():
    files = [os.path.join(scratch, f"table.{kind}") for kind in ("csv", "json")]
    table = run("table", *QUICK, "--threads", "1", "noise:64x64:g=1:d=50", "full:64x64", "--csv", files[0],
                "--json", files[1]).stdout
    if "OpenCV" not in table:
        return "there is no OpenCV to be the baseline"
    with open(files[0]) as stream:
        rows = [row for row in csv.DictReader(stream) if row["outcome"] != "not offered"]
    times = {}
    for row in rows:
        times.setdefault((row["algorithm"], row["delivers"]), []).append(float(row["wall_us"]))
    named = [row[0] for row in markdown_rows(draw(files[1], "--tables"), "Ratios")]
    printed = {row[0].removesuffix(" (baseline)"): row for row in markdown_rows(draw(files[1], "--tables"), "Ratios")}
    baseline = times["opencv", "labels + table"]
    for (algorithm, delivers), own in times.items():
        ratios = [a / b for a, b in zip(own, baseline)]
        ratio, worst = (ratios[0] * ratios[1]) ** 0.5, max(ratios)
        if algorithm == "opencv":
            assert own is not baseline or any(name.startswith("OpenCV") and "(baseline)" in name for name in named)
            continue
        name = next(name for name in printed if name in (f"bandwidth bound: {algorithm}", algorithm,
                                                         f"{algorithm}, {delivers}"))
        told = [float(cell) for cell in printed[name][2:4]]
        assert abs(told[0] - ratio) <= 0.01 * ratio and abs(told[1] - worst) <= 0.01 * worst, f"{told} {ratios}"
        assert printed[name][4] == ("noise 64x64 g=1 d=50" if ratios[0] > ratios[1] else "full 64x64")


@test
def growth_is_a_pixel():
    saved = os.path.join(scratch, "growth.json")
    run("growth", *QUICK, "noise:64x64:g=4:d=30", "noise:128x128:g=4:d=30", "--json", saved)
    assert "ps a pixel" in draw(saved, "--tables")


@test
def streams_come_in_numbers():
    rows = [line.split() for line in run("streams", "--seconds", "0.6", "--no-peers", "blobs:160x120",
                                         "--csv", "-").stdout.splitlines()]
    rows = list(csv.reader(" ".join(row) for row in rows))
    assert rows[0][:3] == ["implementation", "streams", "frames/s"]
    assert [row[1] for row in rows[1:]] == ["1", "8", "32"]
    assert all(float(row[2]) > 60 for row in rows[1:])
    assert 40 < float(rows[1][4]) < 80, rows[1]  # one stream at 60 frames/s


@test
def a_damaged_image_is_reported_and_the_rest_measured():
    good = pgm(8, 8, 1)
    path = folder("damaged", a_pgm=good, b_pgm=good[:-1], c_png=b"\x89PNG\r\n\x1a\nnothing", d_pgm=good)
    result = run("average", *QUICK, path, "--csv", "-", status=1)
    assert {row["input"] for row in measurements(result)} == {"a.pgm", "d.pgm"}
    assert len(problems(result)) == 2
    assert "b.pgm: damaged" in problems(result)[0] and "c.png: damaged" in problems(result)[1]


@test
def an_empty_folder_is_reported_and_the_rest_measured():
    result = run("average", *QUICK, folder("empty"), "full:8x8", "nowhere", "--csv", "-", status=1)
    assert {row["set"] for row in measurements(result)} == {"full 8x8"}
    assert len(problems(result)) == 2 and "holds no PNG" in problems(result)[0]


@test
def an_unknown_algorithm_is_reported_and_the_rest_measured():
    known = next(line.split()[1].rstrip(",") for line in run("--list", "--device", "cpu").stdout.splitlines()
                 if line.startswith("cpu ") and "bound" not in line)
    result = run("average", *QUICK, "--algorithms", f"{known},nonesuch", "full:8x8", "--csv", "-", status=1)
    assert known in {row["algorithm"] for row in measurements(result)}
    assert len(problems(result)) == 1 and '"nonesuch"' in problems(result)[0]


@test
def no_gpu_is_reported_and_the_rest_measured():
    result = run("average", *QUICK, "--device", "all", "full:8x8", "--csv", "-", status=1)
    assert {row["device"] for row in measurements(result)} == {"cpu"}
    assert len(problems(result)) == 1 and "no GPU" in problems(result)[0]
    run("average", *QUICK, "full:8x8", status=0)  # nobody asked for one


@test
def a_wrong_command_line_is_refused_in_one_line():
    for arguments in (["nomode"], ["average", "--connectivity", "5"], ["average", "--connectivity", "8,27"], ["average", "--deliver", "all"],
                      ["average", "--threads", "0"], ["average", "--nonesuch"], ["average", "--device", "gpu"],
                      ["average", "--repetitions", "0"], ["average", "--max-components", "0"], ["average", "--plot", "x"]):
        result = run(*arguments, status=2)
        assert len(problems(result)) == 1 and result.stdout == "", arguments


@test
def allocation_is_in_the_time_when_asked():
    """Fresh pages for a label map of 37 MB take longer than pages in use."""
    def time(*more):
        result = run("average", "--repetitions", "5", "--threads", "1", "--no-peers", "empty:4096x2304",
                     "--csv", "-", *more)
        return next(float(row["wall_us"]) for row in measurements(result) if row["delivers"] == "labels + table")
    assert time("--allocation") > 1.1 * time()


@test
def plots_are_drawn():
    if not has_matplotlib:
        return "matplotlib is not installed"
    path = os.path.join(scratch, "plots")
    saved = [os.path.join(scratch, name) for name in ("density.json", "average.json", "size.json")]
    run("density", *QUICK, "noise:32x32:g=1,4:d=10,50,90", "--json", saved[0])
    run("average", *QUICK, "full:8x8", "empty:8x8", "--json", saved[1])
    run("size", *QUICK, "full:8x8", "full:16x16", "--json", saved[2])
    names = ["average.svg", "density-noise-32x32-g1.svg", "density-noise-32x32-g4.svg", "size.svg"]
    for folder_of_run in (path, path + "-again"):
        draw(*saved, "--output", folder_of_run)
        assert sorted(os.listdir(folder_of_run)) == names
    for name in names:
        texts, curves = looks(os.path.join(path, name))
        assert any("read 1, write 4" in text for text in texts), name
        assert any("µs" in text for text in texts) and any("-connected, on " in text for text in texts), texts
        # No two implementations share a colour or a marker.
        if name != "average.svg":
            assert len(curves) >= 2, name
        assert len({colour for colour, _ in curves}) == len({marker for _, marker in curves}) == len(curves), curves
        with open(os.path.join(path, name), "rb") as first, open(os.path.join(path + "-again", name), "rb") as second:
            assert first.read() == second.read(), name
    draw(saved[1], "--output", path, "--format", "png")
    with open(os.path.join(path, "average.png"), "rb") as stream:
        assert stream.read(8) == b"\x89PNG\r\n\x1a\n"


@test
def files_without_plots_are_refused_in_one_line():
    saved = os.path.join(scratch, "saved.json")
    for file, text in (("nowhere.json", "No such file"), (masks + "/otsu_graf1.png", "otsu_graf1.png")):
        assert text in draw(file, "--tables", status=1)
    for other in ("[]", "{}", '{"runs": 1}', '{"runs": [5], "machine": {}}', ""):
        with open(saved, "w") as stream:
            stream.write(other)
        lines = draw(saved, "--tables", status=1).splitlines()
        assert len(lines) == 1 and "not a file that ccl-bench --json has written" in lines[0], lines
    draw(saved, status=2)
    with open(saved, "w") as stream:
        json.dump({"machine": {}, "runs": [{"mode": "check", "rows": []}]}, stream)
    if has_matplotlib:
        assert "holds nothing to draw" in draw(saved, "--output", scratch, status=1)


@test
def a_progress_bar_is_for_terminals_only():
    arguments = [tool, "average", *QUICK, "full:8x8", "empty:8x8"]
    assert "\x1b" not in run(*arguments[1:]).stderr
    ours, theirs = pty.openpty()
    subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=theirs, check=True,
                   env={**os.environ, **NO_GPU}, timeout=60)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:
        pass
    assert b"0/2 full 8x8" in shown and b"1/2 empty 8x8" in shown
    assert shown.endswith(b"\r\x1b[K")  # it takes itself away


@test
def gpu_algorithms_are_right_and_timed():
    """On the simulated driver, whose times mean nothing: all code paths of the tool work."""
    if not driver:
        return "the simulated CUDA driver was not built"
    simulated = {"LD_LIBRARY_PATH": ":".join([driver, *library_path])}
    result = run("check", "--device", "cuda", "noise:29x23:g=1:d=50", "full:9x9", environment=simulated)
    rows = checks(result, "cuda")
    assert len(rows) >= 6
    for row, (_, different, _, failed, unchecked) in rows.items():
        assert failed == "0" and unchecked == "0" and (different == "0" or "(inexact by its paper)" in row), row
    result = run("table", "--device", "cuda", *QUICK, "noise:29x23:g=1:d=50", "--csv", "-", environment=simulated)
    rows = measured(result)
    assert [row["algorithm"] for row in rows[:2]] == ["read 1", "read 1, write 4"]
    assert ("bke", "raw labels") in {(row["algorithm"], row["delivers"]) for row in rows}
    assert all(float(row["gpu_us"]) > 0 and int(row["gpu_n"]) == int(row["turns"]) >= 1 for row in rows)
    path, file = os.path.join(scratch, "steps"), os.path.join(scratch, "steps.json")
    result = run("steps", "--device", "cuda", *QUICK, "--algorithms", "bke,le", "noise:29x23:g=1:d=50", "--csv", "-",
                 "--json", file, environment=simulated)
    if has_matplotlib:
        draw(file, "--output", path)
        texts, _ = looks(os.path.join(path, "steps-noise-29x23.svg"))
        assert {"allocation", "merging", "bke", "le"} <= set(texts), texts
    for row in measurements(result):
        if row["algorithm"] in ("bke", "le"):
            assert float(row["allocation_us"]) > 0 and float(row["scan_us"]) > 0 and float(row["merging_us"]) > 0
        assert (float(row["relabelling_us"] or 0) > 0) == (row["algorithm"] == "bke"), row


@test
def gpu_volumes_are_right():
    if not driver:
        return "the simulated CUDA driver was not built"
    simulated = {"LD_LIBRARY_PATH": ":".join([driver, *library_path])}
    for connectivity in ("6", "18", "26"):
        result = run("check", "--device", "cuda", "--algorithms", "runs-3d", "--connectivity", connectivity,
                     "noise:37x9x7:g=1:d=20,50", "full:9x9", environment=simulated)
        rows = [row for name, row in checks(result, "cuda").items() if name.startswith("cuda runs-3d")]
        assert rows == 2 * [["2", "0", "1", "0", "0"]], result.stdout
    result = run("average", "--device", "cuda", *QUICK, "--algorithms", "runs-3d", "--max-components", "all",
                 "noise:37x9x7:g=1:d=20", "--csv", "-", environment=simulated)
    assert all(float(row["gpu_us"]) > 0 for row in measured(result)) and len(measured(result)) == 3


@test
def thread_blocks_of_any_shape_give_the_same():
    if not driver:
        return "the simulated CUDA driver was not built"
    simulated = {"LD_LIBRARY_PATH": ":".join([driver, *library_path])}
    result = run("check", "--block-shapes", "--algorithms", "bke,ke,buf,uf,be,dlp,le,ole,np,stava",
                 "noise:61x43:g=1:d=50", environment=simulated)
    assert "cuda bke 32x8x1, raw labels" in result.stdout and "cuda bke 16x16x1, raw labels" in result.stdout
    # These look along rows with whole warps: other shapes are not offered.
    result = run("check", "--block-shapes", "--connectivity", "8,26", "--algorithms", "ha8,brb,m8dls,bke-3d",
                 "noise:97x23:g=1:d=50", "noise:9x8x7:g=1:d=50", environment=simulated)
    assert "cuda ha8 64x4x1," in result.stdout and "cuda ha8 16x16x1," not in result.stdout
    assert "cuda bke-3d 8x4x4," in result.stdout and "cuda brb 8x4x4," not in result.stdout
    run("check", "--block-shapes", "--connectivity", "4", "--algorithms", "ha4,accl-union-find,dpl", "noise:97x23:g=1:d=50",
        environment=simulated)
    result = run("blocksize", *QUICK, "--algorithms", "ke", "full:40x20", "--csv", "-", environment=simulated)
    assert len({row["algorithm"] for row in measurements(result) if row["outcome"] == "measured"}) >= 10


@test
def slow_runs_are_given_up_and_reported():
    if not driver:
        return "the simulated CUDA driver was not built"
    simulated = {"LD_LIBRARY_PATH": ":".join([driver, *library_path])}
    # Labels wander a pixel a round, and a round takes longer than a microsecond.
    arguments = ["--device", "cuda", "--algorithms", "np,bke", "--patience", "0.000001", "full:40x30"]
    result = run("average", *QUICK, *arguments, "--csv", "-", environment=simulated, status=1)
    outcomes = {row["algorithm"]: row["outcome"] for row in measurements(result)}
    assert outcomes["np"] == "too slow" and outcomes["bke"] == "measured", outcomes
    assert len(problems(result)) == 1 and "cuda np, raw labels on full 40x30: given up after" in problems(result)[0]
    assert next(row["at_least_us"] for row in measurements(result) if row["algorithm"] == "np") == "1"
    result = run("check", *arguments, environment=simulated, status=1)
    for name, row in checks(result, "cuda").items():
        if name.startswith("cuda np"):
            assert row == ["0", "0", "0", "0", "1"], row
        if name.startswith("cuda bke"):
            assert row == ["1", "0", "0", "0", "0"], row
    assert len(problems(result)) == 3
    result = run("average", *QUICK, *arguments, "--direct", "--csv", "-", environment=simulated, status=1)
    assert {row["algorithm"] for row in measurements(result)} == {"read 1", "read 1, write 4", "bke"}
    assert len(problems(result)) == 1 and '"np"' in problems(result)[0]


@test
def measure_all_leaves_every_part():
    if not driver:
        return "the simulated CUDA driver was not built"
    output = os.path.join(scratch, "all")
    # The simulated driver cannot run the kernels that count.
    parts = ["average", "size", "density", "volumes", "check", "blocksize", "steps"]
    script = os.path.join(os.path.dirname(masks), "..", "..", "bench", "measure-all")
    result = subprocess.run([sys.executable, script, "--try", "--tool", tool, "--output", output, *parts],
                            env={**os.environ, "LD_LIBRARY_PATH": ":".join([driver, *library_path])},
                            capture_output=True, text=True, timeout=200)
    assert result.returncode == 0, result.stdout + result.stderr
    for name in ("average-8", "average-4", "size", "density", "volumes", "check-8", "check-4", "check-shapes",
                 "blocksize", "steps"):
        assert f"== {name}: exit status 0, 0 problems" in result.stdout, result.stdout
        assert {f"{name}.{kind}" for kind in ("json", "csv", "log")} <= set(os.listdir(output)), name
    assert "bke" in {row[0] for row in markdown_rows(result.stdout, "average: full 20x10: mean of 1 input")}
    assert all(row[3] == "0" for row in markdown_rows(result.stdout, "check") if row[0].startswith("all of this"))
    nothing = subprocess.run([sys.executable, script, "--tool", scratch + "/nowhere", "size"], capture_output=True,
                             text=True, cwd=scratch, timeout=60)
    assert nothing.returncode == 1 and "there is no" in nothing.stderr


@test
def programs_without_their_library_say_so():
    beside = os.path.dirname(tool)
    alone = folder("alone")
    for name in ["ccl-bench", *(name for name in os.listdir(beside) if name.endswith(".py"))]:
        shutil.copy(os.path.join(beside, name), alone)
    nothing = subprocess.run([os.path.join(alone, "ccl-bench"), "--list"], capture_output=True, text=True, timeout=60)
    assert nothing.returncode == 1 and re.fullmatch("ccl-bench: .*libccl-bench.so.*build folder\n", nothing.stderr)


def main():
    failed = 0
    print(f"1..{len(tests)}")
    for number, function in enumerate(tests, 1):
        name = function.__name__.replace("_", "-")
        try:
            skipped = function()
            print(f"ok {number} - {name}" + (f" # SKIP {skipped}" if skipped else ""), flush=True)
        except Exception:  # the next cases still run
            failed += 1
            print(f"not ok {number} - {name}")
            print("# " + traceback.format_exc().strip().replace("\n", "\n# "), flush=True)
    shutil.rmtree(scratch)
    return 1 if failed else 0


sys.exit(main())
