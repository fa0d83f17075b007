"""Views get everything at first, later only changes, and always an answer."""

from __future__ import annotations

import json
import random

import pytest

START = "import random, torch, numpy as np"
DRAW = "x = torch.rand(3).sum().item()"


def test_at_first_everything_is_told(front_end):
    """It has states and what moved them, settings, the last runs, and saved states."""
    front_end.run(START)
    front_end.run("%seed 42 -q\n%seed save mine -q")
    front_end.run(DRAW, "a")
    told = front_end.ask("open")
    assert told["say"] == "all"
    now = {each["name"]: each for each in told["now"]}
    assert list(now)[:3] == ["python", "numpy", "torch.cpu"]  # another test may import polars
    assert (now["torch.cpu"]["where"], now["torch.cpu"]["by"]) == ("seed 42 + 3 draws", "In[3]")
    assert now["python"]["by"] == "In[2]"
    assert told["total"] == 3
    assert [row["name"] for _, row in told["rows"]] == ["In[1]", "In[2]", "In[3]"]
    assert told["settings"]["risks"]
    assert (told["saves"], told["seed"]) == (["mine"], 42)
    json.dumps(told)


def test_after_a_cell_only_what_it_changed_is_told(front_end):
    """The message has the run's row, and only the states that it moved."""
    front_end.run(f"{START}\n%seed 42 -q")
    front_end.ask("open")
    front_end.said()
    front_end.run(DRAW, "a")
    (told,) = front_end.said()
    assert (told["say"], told["place"], told["row"]["name"]) == ("run", 1, "In[2]")
    assert list(told["row"]["fields"]) == ["torch.cpu"]
    assert told["words"] == "In[2] ran, moved torch.cpu."
    assert len(json.dumps(told)) < 1000


def test_equal_states_are_equal_chips_in_rows_cards_and_explanations(front_end):
    """A state has the same chip everywhere."""
    front_end.run(f"{START}\n%seed 42 -q")
    front_end.run(DRAW, "a")
    front_end.run(DRAW, "a")
    told = front_end.ask("open")
    first, again = (row["fields"]["torch.cpu"] for _, row in told["rows"][1:])
    now = next(each["chip"] for each in told["now"] if each["name"] == "torch.cpu")
    why = front_end.ask("why", run=told["rows"][2][1]["id"])
    assert first["to"] == again["from"]
    assert again["to"] == now
    assert why["answer"][0]["chips"] == [first["from"], again["from"]]


def test_a_rerun_that_began_elsewhere_stands_out(front_end):
    """The source that it uses is marked, and its result is compared."""
    front_end.run(f"{START}\n%seed 42 -q")
    for _ in range(2):
        front_end.run(DRAW, "a")
    rows = [row for _, row in front_end.ask("open")["rows"]]
    assert [row["fields"]["torch.cpu"]["other"] for row in rows[1:]] == [False, True]
    assert rows[2]["outcome"] == [False, "≠ In[2]", "result differs from In[2]"]
    assert rows[1]["kin"] == rows[2]["kin"] != rows[0]["kin"]
    front_end.run("%seed 42 -q")
    front_end.run(DRAW, "a")
    last = front_end.ask("open")["rows"][-1][1]
    assert (last["fields"]["torch.cpu"]["other"], last["outcome"][:2]) == (True, [False, "= In[2]"])
    front_end.run("%seed 42 -q")
    front_end.run(DRAW, "a")
    last = front_end.ask("open")["rows"][-1][1]
    assert (last["fields"]["torch.cpu"]["other"], last["outcome"][0]) == (False, True)


def test_a_state_that_moved_between_cells_is_marked(front_end):
    """The mark is on the row of the next run."""
    front_end.run(f"{START}\n%seed 42 -q")
    random.random()
    front_end.ask("open")
    front_end.said()
    front_end.run("1")
    (told,) = front_end.said()
    field = told["row"]["fields"]["python"]
    assert (field["between"], field["to"]) == (True, None)


def test_a_callback_that_moved_a_source_is_told_when_asked(front_end):
    """No cell has run since."""
    front_end.run(f"{START}\n%seed 42 -q")
    random.random()
    now = {each["name"]: each for each in front_end.ask("now")["now"]}
    assert (now["python"]["where"], now["python"]["by"]) == ("seed 42 + 2 draws", "after In[1]")


def test_settings_are_told_as_they_are_now(front_end):
    """A view draws them again if they changed."""
    front_end.run(START)
    told = front_end.ask("open")
    front_end.run("%deterministic on -q")
    changed = front_end.ask("now")
    assert len(changed["settings"]["risks"]) < len(told["settings"]["risks"])
    front_end.run("%deterministic off -q")


def test_what_a_run_moved_has_a_column(front_end):
    """Only sources and generators that moved have columns."""
    front_end.run(START)
    front_end.run("torch.rand(1)")
    columns = front_end.ask("open")["columns"]
    assert "torch.cpu" in columns
    assert "python" not in columns
    front_end.run("g = torch.Generator(); torch.rand(1, generator=g)")
    assert front_end.ask("open")["columns"] == [*columns, "g"]


def test_runs_are_sent_once_an_inspector_is_open(front_end):
    """A view of an answer needs no runs."""
    front_end.handler.shown()
    front_end.run(START)
    assert front_end.ask("ready") == {"say": "ready"}
    front_end.said()
    front_end.run("1")
    assert front_end.said() == []
    front_end.ask("open")
    front_end.run("2")
    assert [each["say"] for each in front_end.said()] == ["run"]


def test_a_variable_in_an_answer_can_be_asked_about(front_end):
    """The answer lists such variables, and their answers have their names."""
    front_end.run("lr = 1", "set")
    front_end.run("lr * 2", "use")
    front_end.run("lr = 3", "set")
    front_end.run("lr * 2", "use")
    last = front_end.extension.tracking.session.last
    told = front_end.ask("why", run=last.id)
    assert (told["asks"], told["name"]) == (["lr"], "")
    told = front_end.ask("why", name="lr")
    assert (told["name"], told["names"]) == ("lr", ["In[1]", "In[3]"])


def test_the_cell_of_a_run_is_found_by_the_number_that_it_shows_now(front_end):
    """It is the number of the cell's last run, or of the run if the cell is gone."""
    front_end.run("1", "a")
    front_end.run("2", "b")
    front_end.run("1", "a")
    told = front_end.ask("cell", number="1")
    assert told["numbers"] == [3, 1]
    assert told["text"] == "In[1] is `1`, which this notebook view does not contain."


def test_choosing_two_runs_compares_them(front_end):
    """As with ``%why --against``, the runs may be of different cells."""
    front_end.run(f"{START}\n%seed 42 -q")
    front_end.run("x = torch.rand(1).item()", "a")
    front_end.run("x = torch.rand(2).sum().item()", "b")
    ids = [row["id"] for _, row in front_end.ask("open")["rows"]]
    told = front_end.ask("why", run=ids[2], against=ids[1])
    assert told["names"] == ["In[2]", "In[3]"]
    assert {cause["kind"] for cause in told["answer"]} == {"rng"}  # they are two cells: no edit


def test_curves_come_as_paths(front_end):
    """No markup is sent, as the view makes the elements."""
    front_end.run(f"{START}\n%seed 42 -q")
    for _ in range(2):
        front_end.run("losses = torch.rand(20).tolist()", "a")
    rows = front_end.ask("open")["rows"]
    (curves,) = front_end.ask("why", run=rows[-1][1]["id"])["curves"]
    assert curves["name"] == "losses"
    assert [path[0] for path in curves["paths"]] == ["M"] * 3


def test_unloading_is_told_and_loading_again_finds_the_same_widget(front_end):
    """The notebook then saves the code of only one widget."""
    front_end.run(START)
    before = front_end.handler.shown()
    front_end.said()
    front_end.handler.close()
    told = front_end.said()
    assert [each["say"] for each in told] == ["gone"]
    before._asked(None, {"ask": "open", "view": "v"}, None)
    assert front_end.said()[0]["say"] == "gone"
    front_end.extension.viewer = None
    assert front_end.handler.shown() is before
    assert [each["say"] for each in front_end.said()] == ["back"]


def test_with_tracking_off_that_is_said_and_states_are_told_all_the_same(front_end):
    """A view asks again after each cell."""
    front_end.run(f"{START}\n%seed 42 -q")
    front_end.ask("open")
    front_end.run("%config IPyTorchSeed.tracking = False")
    front_end.said()
    front_end.run("random.random()")
    assert [each["say"] for each in front_end.said()] == ["moved"]
    told = front_end.ask("now")
    assert told["rule"].startswith("tracking is off")
    assert told["now"][0]["where"] == "seed 42 + 2 draws"


def test_after_all_widgets_were_closed_a_new_one_is_shown(front_end):
    """``ipywidgets.Widget.close_all()`` closes them, and runs meanwhile do no harm."""
    front_end.run(START)
    closed = front_end.handler.shown()
    front_end.ask("open")
    closed.close()
    front_end.run("1")
    shown = front_end.handler.shown()
    assert shown is not closed
    front_end.said()
    front_end.run("2")
    assert [each["say"] for each in front_end.said()] == ["run"]


def test_an_error_of_the_inspectors_is_told_once_and_scopes_end_all_the_same(
    front_end, monkeypatch, capsys
):
    """The settings of the cell are restored."""
    front_end.run(START)

    def fail(_):
        raise OSError

    monkeypatch.setattr(front_end.handler, "ran", fail)
    for _ in range(2):
        front_end.run("%%deterministic 3\nx = torch.are_deterministic_algorithms_enabled()")
        assert front_end.shell.user_ns["x"]
    assert front_end.run("torch.are_deterministic_algorithms_enabled()") is False
    assert capsys.readouterr().err.count("internal error") == 1


def nested(depth):
    """Return nested lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


NONSENSE = [
    {},
    {"ask": "nothing"},
    {"ask": ["open"]},
    {"ask": "why", "run": 999},
    {"ask": "why", "run": "x"},
    {"ask": "why"},
    {"ask": "rows", "places": ["x"]},
    {"ask": "rows", "places": [-1, 10**9]},
    {"ask": "rows", "places": 3},
    {"ask": "find", "low": -5, "high": 10**9},
    {"ask": "find", "low": "x"},
    {"ask": "find", "source": "<img src=x onerror=alert(1)>"},
    {"ask": "do"},
    {"ask": "do", "what": "format"},
    {"ask": "do", "what": "rewind"},
    {"ask": "do", "what": "rewind", "run": "x", "last": 99},
    {"ask": "do", "what": "rewind", "run": 99, "last": 99},
    {"ask": "open", "view": nested(900)},
    {"ask": "do", "what": nested(900)},
    {"ask": "find", "round": nested(900)},
    [nested(900)],
]


@pytest.mark.parametrize("question", NONSENSE, ids=lambda asked: str(asked)[:60])
def test_a_question_that_makes_no_sense_does_no_harm(front_end, question):
    """It has no answer or one that can be sent, and nothing moves."""
    front_end.run(f"{START}\n%seed 42 -q")
    before = front_end.extension.states()
    front_end.said()
    widget = front_end.handler.shown()
    widget._asked(widget, question, [])
    json.dumps(front_end.said())
    assert front_end.extension.states() == before


def test_asking_moves_nothing(front_end):
    """No question moves a source."""
    front_end.run(f"{START}\n%seed 42 -q\ng = torch.Generator()")
    front_end.run(DRAW)
    before = front_end.extension.states()
    front_end.ask("open")
    front_end.ask("now")
    front_end.ask("find", text="x")
    front_end.ask("why", run=2)
    assert front_end.extension.states() == before
