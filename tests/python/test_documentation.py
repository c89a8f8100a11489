# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every public name of the package is documented, and its types are annotated."""
import ast
import inspect
import pathlib
import re
import shutil
import subprocess
import sys

import cudaccl
import pytest

FOLDER = pathlib.Path(cudaccl.__file__).parent


def members():
    """The public functions, classes and methods."""
    for name in cudaccl.__all__:
        value = getattr(cudaccl, name)
        if not callable(value):
            continue
        yield name, value
        if inspect.isclass(value):
            for member, method in vars(value).items():
                if not member.startswith("_") and (callable(method) or isinstance(method, property)):
                    yield f"{name}.{member}", method


@pytest.mark.parametrize("name, value", list(members()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_function_is_documented(name, value):
    text = inspect.getdoc(value)
    assert text, f"{name} has no docstring"
    if "." not in name:
        assert "Since: 0." in text, f"{name}: since when?"


def test_every_function_has_a_reference_or_a_reason():
    page = pathlib.Path(__file__).parents[2] / "docs/testing.md"
    listed = set(re.findall(r"`(\w+)`", page.read_text().partition("## What the Python functions")[2].partition("\n## ")[0]))
    assert {name for name in cudaccl.__all__ if callable(getattr(cudaccl, name))} <= listed


def test_every_argument_has_a_type():
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                arguments = [*node.args.args, *node.args.kwonlyargs]
                untyped = [a.arg for a in arguments if a.annotation is None and a.arg != "self"]
                assert not untyped, f"{path.name}: {node.name}: {untyped}"
                assert node.returns is not None, f"{path.name}: {node.name}"


def test_the_stub_names_what_the_package_uses():
    stub = ast.parse((FOLDER / "_cudaccl.pyi").read_text())
    classes = {node.name for node in stub.body if isinstance(node, ast.ClassDef)}
    assert classes == {"Batch", "Contacts", "ContourFinder", "DeviceArray", "DeviceColumn", "Forest", "Foreground", "ForegroundOptions", "Ground", "Labeller",
                       "LentRows", "MapMeasurer", "MapRuns", "Sums", "Tracker", "ValuesLabeller", "View"}
    assert (FOLDER / "py.typed").exists()


def test_the_development_shell_finds_the_package(tmp_path):
    build = FOLDER.parents[1]
    if not (build / "meson-info").exists() or not shutil.which("meson"):
        pytest.skip("the package is not in a build folder")
    result = subprocess.run(["meson", "devenv", "-C", build, "-w", tmp_path, sys.executable, "-c",
                             "import cudaccl; print(cudaccl.__file__)"], capture_output=True, text=True,
                            env={"PATH": "/usr/bin:/bin"})
    assert result.returncode == 0, result.stderr
    assert pathlib.Path(result.stdout.strip()).parent == FOLDER
