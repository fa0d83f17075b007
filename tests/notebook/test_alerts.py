"""Torch's alerts are shown with the line of the cell, as a note or table."""

from __future__ import annotations

import json
import re

import pytest

PUT = "torch.zeros(4).put_(torch.tensor([1, 1]), torch.ones(2));"

# Defined in a separate cell, so that its lines differ from those of the tested cell.
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


# Line 5 calls the backward pass with the alert; line 3 has the forward operation.
BACKWARD = "scale = 1\nloss = Backward.apply(x).sum()\nloss = loss * scale\nloss.backward()"


@pytest.fixture(scope="module")
def helpers(loaded):
    """Define the functions that the cells call."""
    loaded.run(HELPERS)


def _table(reply):
    """Return the rows of the only table shown: operation, line, count."""
    (shown,) = reply.displays
    assert set(shown) == {"text/plain", "text/html"}
    title, *rows = shown["text/plain"].splitlines()
    found = [re.match(r"(\S+) +(\S+) +(\S+) {3}\S", row) for row in rows]
    return title, [match.groups() for match in found if match and match.group(1) != "Operation"]


@pytest.mark.parametrize(("body", "line"), CELLS.values(), ids=CELLS)
def test_an_error_carries_the_note_under_its_traceback(kernel, helpers, body, line):
    """The note gives operation, line of the cell, alternative, and how to allow it."""
    reply = kernel.run(f"%%deterministic\n{body}")
    assert (reply.status, reply.error.ename) == ("error", "RuntimeError")
    _, _, note = reply.error.traceback.rpartition("RuntimeError: ")
    _, first, instead, way_out = note.splitlines()
    assert first == f"put_ (line {line}) has no deterministic algorithm."
    assert instead.startswith("instead: ")
    assert way_out == "or let it pass and list such operations: %%deterministic --warn"


@pytest.mark.parametrize(("body", "line"), CELLS.values(), ids=CELLS)
def test_warn_lists_the_operation_with_its_line_each_time(kernel, helpers, body, line):
    """A second run in the kernel lists it too, though Python's filter would hide it."""
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


def test_time_above_counts_its_own_line_too(kernel, helpers):
    """The line number is the one in the notebook's margin."""
    cell = f"%%time\n%%deterministic{{}}\na = 1\n{PUT}"
    assert "put_ (line 4) has no" in kernel.run(cell.format("")).error.traceback
    assert _table(kernel.run(cell.format(" --warn")))[1] == [("put_", "4", "1")]


def test_alerts_are_counted_by_line(kernel, helpers):
    """Rows are in the order of first appearance."""
    body = f"for _ in range(1500):\n    put()\n{PUT}\nput(); put()"
    title, rows = _table(kernel.run(f"%%deterministic --warn\n{body}"))
    assert title == "3 operations ran without a deterministic algorithm and may not repeat:"
    assert rows == [("put_", "3", "1,500"), ("put_", "4", "1"), ("put_", "5", "2")]


def test_a_cell_without_alerts_shows_no_table(kernel, helpers):
    """The cell's result is shown as usual."""
    reply = kernel.run("%%deterministic --warn\n6 * 7")
    assert (reply.displays, reply.shown) == ([], "42")


def test_the_table_is_shown_after_an_error_too(kernel, helpers):
    """Operations that ran before the error are listed."""
    reply = kernel.run("%%deterministic --warn\nput()\n1 / 0")
    assert reply.error.ename == "ZeroDivisionError"
    assert _table(reply)[1] == [("put_", "2", "1")]


def test_other_errors_carry_no_note(kernel, helpers):
    """Alerts outside any scope, which the user enabled in torch, get no note either."""
    assert "--warn" not in kernel.run("%%deterministic\nraise RuntimeError('no')").error.traceback
    kernel.run("torch.use_deterministic_algorithms(True)")
    error = kernel.run("put()").error
    kernel.run("torch.use_deterministic_algorithms(False)")
    assert error.ename == "RuntimeError"
    assert "--warn" not in error.traceback


def test_a_caught_error_is_the_users_own_affair(kernel, helpers):
    """The error is not shown, and gets no note."""
    cell = "%%deterministic\ntry:\n    put()\nexcept RuntimeError as error:\n    caught = error"
    assert kernel.run(cell).status == "ok"
    assert kernel.value("getattr(caught, '__notes__', [])") == []


def test_an_error_shown_twice_has_its_note_once(kernel, helpers):
    """This happens if a run inside the cell raises the error again."""
    cell = "%%deterministic\nget_ipython().run_cell('put()').raise_error()"
    assert kernel.run(cell).error.traceback.count("has no deterministic algorithm") == 1


def test_a_tool_that_shows_errors_its_own_way_stays_in_place(kernel, helpers):
    """Rich, for example, sets ``showtraceback`` of the shell. It is called, and stays."""
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
    """What the cell itself sets belongs to the user, and is not restored."""
    kernel.run(
        "%%deterministic\nshell = get_ipython()\nours = shell.showtraceback\n"
        "shell.showtraceback = lambda *args, **kwargs: ours(*args, **kwargs)"
    )
    kept = kernel.value("shell.showtraceback is not ours")
    error = kernel.run("1 / 0").error
    kernel.run("del shell.showtraceback, shell, ours")
    assert (kept, error.ename) == (True, "ZeroDivisionError")
