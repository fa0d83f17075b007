"""The ES module and the stylesheet are small and separate, and have tests in node."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from ipytorchseed.inspector.inspector import Inspector

STATIC = Path(__file__).parents[2] / "ipytorchseed" / "inspector" / "static"
TESTS = Path(__file__).parents[1] / "browser"


def test_the_tests_of_the_module_pass(report_missing):
    """They run in node, so the module can be loaded without a browser."""
    node = shutil.which("node")
    if node is None:
        report_missing("node is not installed: node 20 or newer runs the module's own tests")
    words = [node, "--test", "module.test.js"]
    done = subprocess.run(words, cwd=TESTS, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_fetched_from_elsewhere():
    """It has no address, import or request, so a notebook works without a network."""
    for text in (Inspector._esm, Inspector._css):
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import url|url\(|fetch\(", text)
    assert not re.search(r"^\s*import\b|\bimport\(", Inspector._esm, re.MULTILINE)


def test_text_is_never_parsed_as_html():
    """The module uses no function that parses HTML."""
    ways = r"innerHTML|outerHTML|insertAdjacent|document\.write|DOMParser|createContextualFragment"
    assert not re.search(rf"{ways}|\beval\b|new Function", Inspector._esm)


def test_what_a_notebook_saves_of_it_is_its_code(front_end):
    """Its size does not depend on the number of runs."""
    front_end.run("import random")
    before = front_end.handler.shown().get_state()
    for _ in range(5):
        front_end.run("random.random()")
    front_end.ask("open")
    assert front_end.handler.shown().get_state() == before
    own = {"_esm", "_css", "layout", "tabbable", "tooltip"}
    assert {name for name in before if not name.startswith("_")} | {"_esm", "_css"} <= own
