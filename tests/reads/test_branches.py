"""Branches that do not run, as names that decide on them hold what they hold."""

from __future__ import annotations

import pytest

HELD = """
debug, mode, limit, seen = False, "sum", None, True
extra, table = [1], {"a": 1}
def total():
    if mode == "sum":
        return seen
    return table["a"]
def more(debug):
    return extra if debug else seen
def switch():
    global debug
    debug = True
class Odd:
    def __bool__(self): raise SystemExit
odd = Odd()
"""

READS = {
    "if debug: x = extra": {"debug"},
    "x = 1 if not debug else extra": {"debug"},
    "if debug or mode == 'mean': x = extra\nelse: x = seen": {"debug", "mode", "seen"},
    "if limit is not None: x = extra": {"limit"},
    "if limit is None: x = extra": {"limit", "extra"},
    "if seen is 1: x = extra": {"seen"},
    "if seen == 1: x = extra": {"seen", "extra"},
    "x = total()": {"total", "mode", "seen"},
    "mode = 'mean'\nx = total()": {"total", "seen", "table"},
    "x = more(True)": {"more", "extra", "seen"},
    "debug = seen\nif debug: x = extra": {"seen", "extra"},
    "switch()\nif debug: x = extra": {"switch", "debug", "extra"},
    "for debug in (0, 1):\n    if debug: x = extra": {"extra"},
    "if odd: x = extra": {"odd", "extra", "Odd"},
    "while debug: x = extra": {"debug"},
    "if seen > 2: x = extra": {"seen", "extra"},
    "exec(text)\nif debug: x = extra": {"debug", "extra"},
}


@pytest.mark.parametrize(("cell", "reads"), READS.items(), ids=READS)
def test_what_is_read_in_branches(notebook, cell, reads):
    """A branch counts unless a plain value that nobody sets keeps it from running."""
    notebook.run(HELD)
    assert {*notebook.dependencies(cell).names} == reads


def test_a_value_that_changed(notebook):
    """The next run of the same text takes another branch."""
    notebook.run(HELD)
    assert "extra" not in notebook.dependencies("if debug: x = extra").names
    notebook.run("debug = True")
    assert "extra" in notebook.dependencies("if debug: x = extra").names
