"""Buttons do what the magics do, record a run, and ask before data are lost."""

from __future__ import annotations

import threading

import pytest

START = "import random, torch, numpy as np\n%seed 42 -q"
DRAW = "x = torch.rand(3).sum().item()"


def test_rewind_gives_the_numbers_of_the_run_again(front_end):
    """The button does what ``%seed rewind N`` does, and adds a row to the timeline."""
    front_end.run(START)
    front_end.run(DRAW, "a")
    first = front_end.shell.user_ns["x"]
    front_end.run(DRAW, "a")
    told = front_end.do("rewind", run=2)
    assert (told["ok"], told["line"]) == (True, "%seed rewind 2")
    assert "Put back to the start of In[2]" in told["text"]
    row = front_end.ask("open")["rows"][-1][1]
    assert (row["name"], row["cell"]) == ("#4", "%seed rewind 2")
    assert list(row["fields"]) == ["torch.cpu"]
    front_end.run(DRAW, "a")
    assert front_end.shell.user_ns["x"] == first


def test_the_shell_counts_and_prints_as_if_nobody_had_pressed(front_end, capsys):
    """It uses no execution count, and shows no output in a cell."""
    front_end.run(START)
    count = front_end.shell.execution_count
    front_end.do("rewind", run=1)
    front_end.do("save", name="a")
    assert front_end.shell.execution_count == count
    assert capsys.readouterr().out == ""


def test_replay_brings_the_result_of_the_run_back(front_end):
    """Like ``%replay N``, it adds the run to the timeline, and Undo reverts it."""
    front_end.run(START)
    front_end.run("x = torch.rand(3)", "a")
    first = front_end.shell.user_ns["x"]
    front_end.run("x = torch.rand(3)", "a")
    now, before = front_end.shell.user_ns["x"], front_end.extension.states()
    said = front_end.ask("why", run=3)
    assert (said["mend"], said["back"]) == (["%replay 2"], "To get the earlier result back:")
    told = front_end.do("replay", run=2)
    assert (told["ok"], told["line"]) == (True, "%replay 2")
    assert told["text"].startswith("The new run is In[2]'s result again, bit for bit.")
    row = front_end.ask("open")["rows"][-1][1]
    assert (row["name"], row["cell"], row["outcome"][1]) == ("#4", "x = torch.rand(3)", "= In[2]")
    assert front_end.shell.user_ns["x"].equal(first)
    told = front_end.do(**told["undo"])
    assert (told["ok"], told["line"], told["undo"]) == (True, "%replay --undo", None)
    assert front_end.shell.user_ns["x"] is now
    assert front_end.extension.states() == before


def test_prove_tests_the_causes_and_has_the_answer_asked_again(front_end):
    """It works from a view without runs, such as that of an answer."""
    front_end.run(START)
    front_end.run(DRAW, "a")
    front_end.run(DRAW, "a")
    last = front_end.extension.tracking.session.last
    asked = front_end.ask("why", run=last.id)
    assert asked["prove"]
    told = front_end.ask("do", what="prove", run=asked["run"], against=asked["against"])
    assert (told["ok"], told["text"], told["refresh"]) == (True, "The causes are tested.", True)
    asked = front_end.ask("why", run=last.id)
    assert "proved" in asked["answer"][0]["finding"]
    assert not asked["prove"]


def test_replay_asks_before_it_acts_outside(front_end, tmp_path):
    """The question names what would run, and a different result is reported."""
    front_end.run("import os\nx = os.urandom(8)\nopen('kept.txt', 'w').close()", "a")
    (tmp_path / "kept.txt").unlink()
    asked = front_end.do("replay", run=1)
    assert asked["question"] == "In[1] writes kept.txt. Run that again?"
    assert not (tmp_path / "kept.txt").exists()
    told = front_end.handler.answer(asked["wish"])
    assert (told["ok"], told["line"]) == (False, "%replay 1 --yes")
    assert told["text"].startswith("The new run is not In[1]'s result.")
    assert told["undo"] == {"what": "undo-replay"}
    assert (tmp_path / "kept.txt").exists()


def test_undo_leads_back(front_end):
    """Undo restores the states of the sources before the button."""
    front_end.run(START)
    front_end.run(DRAW)
    before = front_end.extension.states()
    undo = front_end.do("reseed", seed="7")["undo"]
    assert front_end.extension.states() != before
    assert front_end.do(**undo)["ok"]
    assert front_end.extension.states() == before


def test_reseeding_is_logged_as_the_magic_logs_it(front_end):
    """Generators are reseeded on request."""
    front_end.run(f"{START}\ng = torch.Generator()")
    assert front_end.do("reseed", seed="7", generators="on")["line"] == "%seed 7 --generators"
    by_button = front_end.extension.states()
    front_end.run("%seed 7 --generators -q")
    assert front_end.extension.states() == by_button
    assert front_end.do("new")["ok"]
    log = front_end.extension.tracking.session.ledger.seeds()
    assert [(each.seed, each.how) for each in log[1:3]] == [(7, "now"), (7, "now")]
    assert log[-1].how == "new"


def test_save_and_restore_by_name(front_end):
    """Names may have several words."""
    front_end.run(START)
    for name in ("mine", "before training", "Ärger 2.0"):
        assert front_end.do("save", name=name)["ok"]
    assert front_end.ask("now")["saves"] == ["mine", "before training", "Ärger 2.0"]
    before = front_end.extension.states()
    front_end.run(DRAW)
    assert front_end.do("restore", name="before training")["ok"]
    assert front_end.extension.states() == before


@pytest.mark.parametrize("name", ["", "  ", "-q", "a'b", 'a"b', "$x", "{x}", "a\nb", "\\"])
def test_a_name_that_the_magic_would_misread_is_refused(front_end, name):
    """The reason is shown, and nothing is saved."""
    front_end.run(START)
    told = front_end.do("save", name=name)
    assert (told["ok"], "is not a valid name" in told["text"]) == (False, True)
    assert front_end.ask("now")["saves"] == []


@pytest.mark.parametrize("seed", ["", "x", "-1", "4294967296", "1.5", "42 --generators"])
def test_what_is_no_seed_is_refused(front_end, seed):
    """The message gives the limits."""
    front_end.run(START)
    before = front_end.extension.states()
    told = front_end.do("reseed", seed=seed)
    assert (told["ok"], "4294967295" in told["text"]) == (False, True)
    assert front_end.extension.states() == before


def test_a_name_that_is_taken_is_asked_about_once(front_end):
    """It is asked before the saved states are overwritten."""
    front_end.run(START)
    front_end.do("save", name="mine")
    front_end.run(DRAW)
    asked = front_end.do("save", name="mine")
    assert (asked["say"], "Replace" in asked["question"]) == ("confirm", True)
    session = front_end.extension.tracking.session
    kept = session.ledger.saved(session.notebook, "mine")
    assert kept != front_end.extension.states()
    assert front_end.handler.answer({"ask": "do", **asked["wish"]})["ok"]
    assert session.ledger.saved(session.notebook, "mine") == front_end.extension.states()


def test_a_button_pressed_before_a_cell_ran_does_nothing_after_it(front_end):
    """Its message waited for the kernel, so the user has not seen the cell's run."""
    front_end.run(START)
    front_end.run(DRAW)
    before = front_end.extension.states()
    told = front_end.do("rewind", run=1, last=1)
    assert (told["ok"], "has run since" in told["text"]) == (False, True)
    assert front_end.extension.states() == before


def test_a_button_does_nothing_while_a_cell_runs(front_end):
    """Its message comes from another thread, as with ipykernel 7."""
    front_end.run(START)
    front_end.ask("open")
    front_end.shell.user_ns["press"] = lambda: front_end.do("rewind", run=1)
    front_end.shell.user_ns["said"] = said = []
    front_end.shell.user_ns["threading"] = threading
    front_end.run(
        "it = threading.Thread(target=lambda: said.append(press()))\nit.start(); it.join()"
    )
    assert (said[0]["ok"], "A cell is running" in said[0]["text"]) == (False, True)


def test_a_button_works_from_another_thread(front_end):
    """Between cells, it acts and is recorded as usual."""
    front_end.run(START)
    front_end.run(DRAW)
    said = []
    thread = threading.Thread(target=lambda: said.append(front_end.do("rewind", run=2)))
    thread.start()
    thread.join()
    assert said[0]["ok"]
    assert [run.source for run in front_end.extension.tracking.session.ledger.runs(limit=1)] == [
        "%seed rewind 2"
    ]
    front_end.run(DRAW)
    assert front_end.ask("open")["rows"][-1][1]["name"] == "In[3]"


def test_what_the_magic_refuses_is_told_in_its_words(front_end):
    """The message is the magic's, and nothing moves."""
    front_end.run(START)
    told = front_end.do("restore", name="nothing")
    assert (told["ok"], told["undo"]) == (False, None)
    assert "nothing is saved as 'nothing'" in told["text"]
