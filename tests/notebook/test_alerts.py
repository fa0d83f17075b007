"""What torch says of operations, with the line of the cell.

As a note, or as a table.
"""

from __future__ import annotations

import json
import re

import pytest

PUT = "torch.zeros(4).put_(torch.tensor([1, 1]), torch.ones(2));"

HELPERS = f"""
def put():
    {PUT}
def put_deeper():
    put()
class Backward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        {PUT}
        return grad
x = torch.ones(4, requires_grad=True)
""".strip()
"""Defined in its own cell, so that their lines are not those of the cell under test."""

CELLS = {
    "the operation itself": (f"a = 1\n\n{PUT}", 4),
    "a function of another cell": ("a = 1\nput()", 3),
    "a function of a function": ("put_deeper()", 2),
    "a function of the same cell": (f"def f():\n    {PUT}\n\nf()", 3),
    "a comprehension": ("a = 1\n[put() for _ in range(1)]", 3),
    "after await": ("await asyncio.sleep(0)\nput()", 3),
    "after a future import": ("from __future__ import annotations\nput()", 3),
    "%%time below": (f"%%time\na = 1\n{PUT}", 4),
    "%%time below, and empty lines": (f"%%time\n\n  \na = 1\n{PUT}", 6),
    "%time": ("a = 1\n%time put()", 3),
}


BACKWARD = "scale = 1\nloss = Backward.apply(x).sum()\nloss = loss * scale\nloss.backward()"
"""An alert in the backward pass called on line 5, whose forward is line 3."""


@pytest.fixture(scope="module")
def helpers(loaded):
    """The functions that the cells call."""
    loaded.run(HELPERS)


def _table(reply):
    """The rows of the one table shown: operation, line, count."""
    (shown,) = reply.displays
    assert set(shown) == {"text/plain", "text/html"}
    title, *rows = shown["text/plain"].splitlines()
    found = [re.match(r"(\S+) +(\S+) +(\S+) {3}\S", row) for row in rows]
    return title, [match.groups() for match in found if match and match.group(1) != "Operation"]


@pytest.mark.parametrize(("body", "line"), CELLS.values(), ids=CELLS)
def test_an_error_carries_the_note_under_its_traceback(kernel, helpers, body, line):
    """Operation, line of the cell, what to use instead, and how to let it pass."""
    reply = kernel.run(f"%%deterministic\n{body}")
    assert (reply.status, reply.error.ename) == ("error", "RuntimeError")
    _, _, note = reply.error.traceback.rpartition("RuntimeError: ")
    _, first, instead, way_out = note.splitlines()
    assert first == f"put_ (line {line}) has no deterministic algorithm."
    assert instead.startswith("instead: ")
    assert way_out == "or let it pass and list such operations: %%deterministic --warn"


@pytest.mark.parametrize(("body", "line"), CELLS.values(), ids=CELLS)
def test_warn_lists_the_operation_with_its_line_each_time(kernel, helpers, body, line):
    """Also on a second run in the same kernel, where Python's filter would hide it."""
    for _ in range(2):
        reply = kernel.run(f"%%deterministic --warn\n{body}")
        assert (reply.status, reply.stderr) == ("ok", "")
        title, rows = _table(reply)
        assert title == "1 operation ran without a deterministic algorithm and may not repeat:"
        assert rows == [("put_", str(line), "1")]


def test_warn_names_the_forward_line_of_a_backward_alert(kernel, helpers):
    """The alert names the line of the forward operation, not of ``backward()``."""
    reply = kernel.run(f"%%deterministic --warn --json\n{BACKWARD}")
    assert "put_ (backward)      3       1" in reply.displays[0]["text/plain"]
    (alert,) = json.loads(reply.stdout)["alerts"]
    assert (alert["line"], alert["forward"]) == (5, 3)


def test_an_error_in_a_backward_pass_names_the_forward_line_when_it_comes_again(kernel, helpers):
    """The first time, the cell is not followed, as that takes time; then it is."""
    cell = f"%%deterministic\n{BACKWARD}"
    first, second = (kernel.run(cell).error.traceback for _ in range(2))
    assert "put_, in the backward pass called on line 5, has no deterministic algorithm." in first
    assert "run the cell again: its backward pass is then followed to the line" in first
    assert "its forward is line 3: loss = Backward.apply(x).sum()" in second
    assert "run the cell again" not in second
    assert "recorder.py" not in second


def test_time_above_counts_its_own_line_too(kernel, helpers):
    """The line is the one in the notebook's margin."""
    cell = f"%%time\n%%deterministic{{}}\na = 1\n{PUT}"
    assert "put_ (line 4) has no" in kernel.run(cell.format("")).error.traceback
    assert _table(kernel.run(cell.format(" --warn")))[1] == [("put_", "4", "1")]


def test_alerts_are_counted_by_line(kernel, helpers):
    """In the order of their first appearance."""
    body = f"for _ in range(1500):\n    put()\n{PUT}\nput(); put()"
    title, rows = _table(kernel.run(f"%%deterministic --warn\n{body}"))
    assert title == "3 operations ran without a deterministic algorithm and may not repeat:"
    assert rows == [("put_", "3", "1,500"), ("put_", "4", "1"), ("put_", "5", "2")]


def test_a_cell_without_alerts_shows_no_table(kernel, helpers):
    """And its result as ever."""
    reply = kernel.run("%%deterministic --warn\n6 * 7")
    assert (reply.displays, reply.shown) == ([], "42")


def test_the_table_is_shown_after_an_error_too(kernel, helpers):
    """What ran before the error is listed."""
    reply = kernel.run("%%deterministic --warn\nput()\n1 / 0")
    assert reply.error.ename == "ZeroDivisionError"
    assert _table(reply)[1] == [("put_", "2", "1")]


def test_other_errors_carry_no_note(kernel, helpers):
    """Nor does an alert outside any scope, where the user asked torch for it."""
    assert "--warn" not in kernel.run("%%deterministic\nraise RuntimeError('no')").error.traceback
    kernel.run("torch.use_deterministic_algorithms(True)")
    error = kernel.run("put()").error
    kernel.run("torch.use_deterministic_algorithms(False)")
    assert error.ename == "RuntimeError"
    assert "--warn" not in error.traceback


def test_a_caught_error_is_the_users_own_affair(kernel, helpers):
    """It is not shown, and nothing is added to it."""
    cell = "%%deterministic\ntry:\n    put()\nexcept RuntimeError as error:\n    caught = error"
    assert kernel.run(cell).status == "ok"
    assert kernel.value("getattr(caught, '__notes__', [])") == []


def test_an_error_shown_twice_has_its_note_once(kernel, helpers):
    """As when a run inside the cell raises it on."""
    cell = "%%deterministic\nget_ipython().run_cell('put()').raise_error()"
    assert kernel.run(cell).error.traceback.count("has no deterministic algorithm") == 1


def test_a_tool_that_shows_errors_its_own_way_stays_in_place(kernel, helpers):
    """rich, for one, sets ``showtraceback`` of the shell.

    It is asked, and is still there after.
    """
    kernel.run(
        "shell = get_ipython()\nshown = shell.showtraceback\n"
        "def mine(*args, **kwargs):\n    print('mine')\n    shown(*args, **kwargs)\n"
        "shell.showtraceback = mine"
    )
    reply = kernel.run("%%deterministic\nput()")
    kept = kernel.value("shell.showtraceback is mine")
    after = kernel.run("1 / 0")
    kernel.run("del shell.showtraceback, shell, shown, mine")
    assert reply.stdout == after.stdout == "mine\n"
    assert "put_ (line 2)" in reply.error.traceback
    assert kept is True


def test_a_tool_that_takes_over_inside_the_cell_stays_in_place(kernel, helpers):
    """What the cell itself sets is the user's, and is not undone."""
    kernel.run(
        "%%deterministic\nshell = get_ipython()\nours = shell.showtraceback\n"
        "shell.showtraceback = lambda *args, **kwargs: ours(*args, **kwargs)"
    )
    kept = kernel.value("shell.showtraceback is not ours")
    error = kernel.run("1 / 0").error
    kernel.run("del shell.showtraceback, shell, ours")
    assert (kept, error.ename) == (True, "ZeroDivisionError")
