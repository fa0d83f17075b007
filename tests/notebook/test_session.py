"""``%deterministic`` shows the report, and sets flags for the rest of the session."""

from __future__ import annotations

import json

import pytest

from tests.notebook.looking import look

ASK = (
    "torch.are_deterministic_algorithms_enabled(),"
    " torch.is_deterministic_algorithms_warn_only_enabled()"
)

PUT = "torch.zeros(4).put_(torch.tensor([1, 1]), torch.ones(2));"


@pytest.fixture
def session(kernel):
    """A kernel in which ``on`` ends with the test."""
    yield kernel
    kernel.run("%deterministic off -q")


def test_the_report_is_one_display_of_text_and_html(kernel):
    """A front end chooses the form; there is no other result."""
    reply = kernel.run("%deterministic")
    (shown,) = reply.displays
    assert set(shown) == {"text/plain", "text/html"}
    assert (reply.results, reply.stdout) == ([], "")
    assert "%deterministic --all" in shown["text/plain"]
    assert "torch.use_deterministic_algorithms" in shown["text/html"].replace("<wbr>", "")


def test_the_report_prints_itself(kernel):
    """In code, ``print(its.report())`` prints the same text."""
    (shown,) = kernel.run("%deterministic").displays
    kernel.run("import ipytorchseed as its")
    assert kernel.run("print(its.report())").stdout.rstrip("\n") == shown["text/plain"]


def test_the_report_as_json_is_one_line(kernel):
    """It has every flag with current value, wanted value, and whether to change it."""
    reply = kernel.run("%deterministic --json")
    told = json.loads(reply.stdout)
    assert (reply.stdout.count("\n"), reply.displays) == (1, [])
    assert set(told) == {"schema", "flags"}
    flags = {flag["name"]: flag for flag in told["flags"]}
    assert flags["torch.use_deterministic_algorithms"] == {
        "name": "torch.use_deterministic_algorithms",
        "value": False,
        "wanted": True,
        "ok": False,
    }
    assert flags["torch.default_dtype"]["value"] == "torch.float32"


def test_on_holds_for_later_cells_and_off_puts_back_what_was_there(session):
    """Settings that differ from torch's defaults are restored too."""
    session.run("torch.backends.cudnn.benchmark = True\ntorch.set_num_threads(1)")
    before = look(session)
    session.run("%deterministic on")
    assert session.run(ASK).shown == session.run(ASK).shown == "(True, False)"
    assert session.run("%deterministic off").stdout == (
        "Every setting is as it was before %deterministic on.\n"
    )
    assert session.run(ASK).shown == "(False, False)"
    assert look(session) == before
    session.run("torch.backends.cudnn.benchmark = False\ntorch.set_num_threads(2)")


def test_on_tells_what_remains(session):
    """It tells how to go back; the report then has nothing left to fix."""
    told = session.run("%deterministic on").stdout
    assert "can still change results:" in told
    assert told.endswith("%deterministic off puts the settings back.\n")
    assert "– %deterministic on" not in told
    assert "– %deterministic on" not in session.run("%deterministic").displays[0]["text/plain"]


def test_on_twice_is_undone_by_one_off(session):
    """The second replaces the first; the state before both is restored."""
    before = look(session)
    session.run("%deterministic on -q")
    session.run("%deterministic on --warn --no-cudnn -q")
    assert session.run(ASK).shown == "(True, True)"
    assert session.run("torch.backends.cudnn.enabled").shown == "False"
    session.run("%deterministic on -q")
    assert session.run(ASK).shown == "(True, False)"
    assert session.run("torch.backends.cudnn.enabled").shown == "True"
    session.run("%deterministic off -q")
    assert look(session) == before
    assert session.run("%deterministic off").error.ename == "UsageError"


def test_a_deterministic_cell_under_on_puts_back_on(session):
    """Each scope restores what it found."""
    session.run("%deterministic on -q")
    assert session.run(f"%%deterministic --warn\n{ASK}").shown == "(True, True)"
    assert session.run(ASK).shown == "(True, False)"


def test_quiet_prints_nothing(session):
    """Both commands accept ``-q``."""
    for line in ("%deterministic on -q", "%deterministic off --quiet"):
        reply = session.run(line)
        assert (reply.status, reply.stdout, reply.displays) == ("ok", "", [])


def test_on_stops_an_operation_that_may_not_repeat_in_any_later_cell(session):
    """The traceback has the note."""
    session.run("%deterministic on -q")
    for _ in range(2):
        error = session.run(f"a = 1\n{PUT}").error
        assert error.ename == "RuntimeError"
        assert "put_ (line 2) has no deterministic algorithm." in error.traceback
    session.run("%deterministic off -q")
    assert session.run(PUT).status == "ok"


def test_under_on_warn_each_cell_lists_its_own_alerts(session):
    """Each run lists them with line and count; a cell without alerts shows nothing."""
    session.run("%deterministic on --warn -q")
    cell = f"a = 1\n{PUT}\nfor _ in range(3):\n    {PUT}"
    for _ in range(2):
        (shown,) = session.run(cell).displays
        rows = [line.split()[:3] for line in shown["text/plain"].splitlines()]
        assert [row for row in rows if row[:1] == ["put_"]] == [
            ["put_", "2", "1"],
            ["put_", "4", "3"],
        ]
    assert session.run("a = 1").displays == []
    failing = session.run(f"{PUT}\n1 / 0")
    assert failing.error.ename == "ZeroDivisionError"
    assert "put_" in failing.displays[0]["text/plain"]


def test_alerts_of_a_run_inside_a_cell_are_listed_once_after_the_cell(session):
    """They are not listed after each inner run."""
    session.run("%deterministic on --warn -q")
    reply = session.run(f"get_ipython().run_cell({PUT!r})\nprint('after')\n{PUT}")
    assert len(reply.displays) == 1
    assert reply.displays[0]["text/plain"].count("put_ ") == 2


def test_other_warnings_are_shown_as_ever(session):
    """Only torch's alerts are collected."""
    session.run("%deterministic on --warn -q")
    reply = session.run("warnings.warn('of the user')")
    assert "UserWarning: of the user" in reply.stderr
    assert reply.displays == []
