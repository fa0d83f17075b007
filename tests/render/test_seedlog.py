"""The log of seeds, and the message after states were restored."""

from __future__ import annotations

import re

from ipytorchseed.experiment.rewind import Restored
from ipytorchseed.ledger.records import SeedEntry
from ipytorchseed.render.seeding import SeedLog, restored_text
from tests.render.test_timeline import run


def entry(seed, how="now", kernel="k", number=5):
    """Make an entry of the log."""
    return SeedEntry(seed, how, 1.8e9, "n", kernel, number, "cell")


def rows(*entries, runs=None):
    """Return the rows of the log for the kernel ``k``."""
    return SeedLog(entries, runs or {}, "k").rows


def test_an_entry_tells_when_which_how_and_where():
    """It has the number of the run, and the cell's first line."""
    ((when, seed, by, number, cell),) = rows(entry(42), runs={("k", 5): run(5, {}, {})})
    assert (len(when), seed, by, number, cell) == (19, "42", "%seed", "In[5]", "draw()")


def test_each_way_to_seed_is_named_as_it_is_typed():
    """An unknown way is shown as recorded."""
    ways = [rows(entry(1, how))[0][2] for how in ("now", "each", "new", "scope", "other")]
    assert ways == ["%seed", "%seed each", "%seed new", "%%deterministic", "other"]


def test_runs_of_earlier_kernels_are_named_by_the_ledgers_number():
    """``%seed rewind`` takes that number; ``In[5]`` would be another run here."""
    earlier = run(5, {}, {}, kernel="before")
    assert rows(entry(1, kernel="before"), runs={("before", 5): earlier})[0][3] == "#105"
    assert rows(entry(1, kernel="before"))[0][3:] == ("", "earlier kernel")
    assert rows(entry(1))[0][3:] == ("In[5]", "")
    assert rows(entry(1, number=None))[0][3] == ""


def test_the_text_fits_a_terminal_and_nothing_in_it_is_markup():
    """Only long cells in wide letters are broken into two lines."""
    long = run(5, {}, {}, source="[bold]日本語[/bold]" * 9)
    log = SeedLog(
        [entry(2**32 - 1, "block")] * 3, {("k", 5): long}, "k", "The last 3 seeds, oldest first."
    )
    assert max(map(len, log.text().splitlines())) <= 80
    assert log.text().count("  4294967295   its.deterministic   In[5]   [bold]日") == 3
    assert re.search(r"^\S+ \d\d:\d\d:\d\d  ", log.text(), re.MULTILINE)
    assert "The last 3 seeds" in log.text()
    assert str(log) == log.text()


def test_no_entry_is_said_in_words():
    """The sentence includes the note, if there is one."""
    assert SeedLog([], {}, "k").text().strip() == "No seed set in this notebook yet."
    assert SeedLog([], {}, "k", note="A note.").text().endswith("A note.")
    assert "No seed set" in SeedLog([], {}, "k")._repr_html_()


def test_html_escapes_what_the_user_wrote():
    """A cell is shown as text."""
    hostile = run(5, {}, {}, source="<img onerror=x>")
    html = SeedLog([entry(1)], {("k", 5): hostile}, "k").html()
    assert "<img" not in html
    assert "&lt;img onerror" in html


def test_what_was_put_back_and_what_was_not_is_told():
    """Each has a line of at most 80 columns."""
    done = Restored(("python", "numpy"), missing=("g",), left=("new",), dropped=("torch.cpu",))
    assert restored_text(done, "to the start of In[5]").splitlines() == [
        "Put back to the start of In[5]: python, numpy.",
        "Not here now: g.",
        "Left alone, as they were not recorded: new.",
        "No longer in the ledger: torch.cpu.",
    ]
    one = restored_text(Restored(("python",), (), ()), "to the state saved as 'a'")
    assert one == "Put back to the state saved as 'a': python."
    assert restored_text(Restored((), ("g",), ()), "x").startswith("None of them exists here.")
    many = Restored(tuple(f"generator_{n}" for n in range(40)), (), ())
    assert max(map(len, restored_text(many, "x").splitlines())) <= 80
