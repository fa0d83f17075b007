"""The timeline: equal states have equal chips, and its text fits a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from ipytorchseed.render.labels import label_of
from ipytorchseed.render.timeline import Field, columns_of, timeline, write_lines
from ipytorchseed.render.values import code, hue
from ipytorchseed.why.evidence import run_name
from tests.records import make_run
from tests.render.hostile import unseen

A, B, C = "aaaa000000000000", "bbbb000000000000", "cccc000000000000"


def run(number, before, after, **more):
    """Make a record of a run that moved sources from one state to another."""
    given_ = {
        "notebook": "n",
        "kernel": "k",
        "cell": "cell",
        "source": "draw()",
        "execution_count": number,
        "started": 0.0,
        "seconds": 0.1,
        "status": "ok",
        "before": before,
        "after": after,
        "id": 100 + number,
    }
    return make_run(**{**given_, **more})


def text(runs, kernel="k"):
    """Draw runs as text."""
    return "\n".join(write_lines(timeline(runs, kernel)))


def test_a_chip_is_the_state_anywhere():
    """Its code and colour depend only on the digest."""
    assert (Field(A, B).code, Field(A, B, other=True).code) == (code(A), f"{code(A)}*")
    assert code(A) == "aaaa"
    assert 0 <= hue("ffff" * 4) < 360


def test_a_field_tells_what_moved():
    """A dot means that nothing moved.

    A star means that the cell's earlier run started from another state.
    """
    assert Field(A, B).text == "aaaa→bbbb"
    assert Field(A, A).text == "·"
    assert Field(A, B, other=True).text == "aaaa*→bbbb"
    assert Field(A, A, other=True).text == "aaaa*"
    assert Field(None, B).text == "→bbbb"
    assert Field(None, None).text == "·"
    assert Field(A, None).text == "·"


def test_a_rerun_is_held_against_the_same_cells_run_before():
    """It is compared neither with other cells nor with itself."""
    runs = [
        run(1, {"python": A}, {"python": B}),
        run(2, {"python": B}, {"python": C}, cell="another"),
        run(3, {"python": C}, {"python": A}),
        run(4, {"python": C}, {"python": A}),
    ]
    others = [line.field("python").other for line in timeline(runs, "k")]
    assert others == [False, False, True, False]


def test_runs_of_a_cell_share_a_rail():
    """The rail is a hue, which usually differs between cells."""
    lines = timeline([run(n, {}, {}, cell=cell) for n, cell in enumerate("aba")], "k")
    assert lines[0].rail == lines[2].rail != lines[1].rail


def test_a_run_is_named_by_its_number_here_and_by_the_ledgers_elsewhere():
    """A run without an execution count has the ledger's number, too."""
    assert run_name(run(5, {}, {}), "k") == "In[5]"
    assert run_name(run(5, {}, {}), "another kernel") == "#105"
    assert run_name(run(5, {}, {}, execution_count=None), "k") == "#105"


def test_generators_have_columns_beside_sources():
    """Generators that appear later have columns, too."""
    runs = [
        run(1, {"python": A}, {"python": A}),
        run(2, {"python": A}, {"python": A, "g": B}, generators={"g": "t"}),
    ]
    assert columns_of(timeline(runs, "k")) == ["python", "g"]
    assert "→bbbb" in text(runs)


def test_columns_that_nothing_moved_are_left_out_and_too_many_are_named():
    """The text fits, and columns that are left out are listed."""
    names = ["python", "numpy", "torch.cpu", "torch.cuda:0", "rng", "ds.rng"]
    runs = [run(1, dict.fromkeys(names, A), dict.fromkeys(names[1:], B) | {"python": A})]
    drawn = text(runs).splitlines()
    assert drawn[0].split() == ["Run", "Cell", "numpy", "torch.cpu", "torch.cuda:0"]
    assert drawn[-1].strip() == "moved too, not shown: rng, ds.rng"


def test_of_too_many_columns_those_are_drawn_that_moved_most():
    """A narrow terminal shows the source that every run drew from."""
    still = dict.fromkeys(["a", "b", "c"], A)
    runs = [run(1, {**still, "d": A}, {**dict.fromkeys("abc", B), "d": B})]
    runs += [run(2, {**still, "d": A}, {**still, "d": B})]
    drawn = text(runs).splitlines()
    assert drawn[0].split() == ["Run", "Cell", "a", "b", "d"]
    assert drawn[-1].strip() == "moved too, not shown: c"


def test_how_a_run_ended_is_told_where_it_did_not_end_well():
    """The status is shown with anything else in the row."""
    names = ["python", "numpy", "torch.cpu", "g"]
    for status in ("error", "interrupted"):
        failed = run(1, dict.fromkeys(names, A), dict.fromkeys(names, B), status=status)
        assert text([failed]).splitlines()[2].endswith(f" {status}")


def test_moves_between_runs_have_a_line_of_their_own():
    """The line is above the run that found them."""
    drawn = text([run(1, {"python": A}, {"python": A}, between={"python": (B, A)})])
    assert drawn.splitlines()[2].strip() == "between the runs, python moved"


LABELS = {
    "import torch\nloss = train()\ndef f(): pass": "loss = train()",
    "%%time\nx = 1\nloss": "loss",
    "# %%\n\n  loss = train()\nloss": "loss",
    "#%%": "",
    "# %% Train\nloss": "loss",
    "import torch": "import torch",
    "\n\n  first = 1\nsecond": "second",
    "": "",
    "a\tb": "a b",
    "\x1b[31mred": r"\x1b[31mred",
    "x = '\u202e'": r"x = '\u202e'",
}


@pytest.mark.parametrize(("source", "label"), LABELS.items())
def test_a_label_is_the_last_statement_in_letters_that_can_be_shown(source, label):
    """Imports and definitions are only labels if there is nothing else.

    Control characters would move the terminal's cursor.
    """
    assert label_of(source) == label


DIGESTS = st.sampled_from([A, B, C])
STATES = st.dictionaries(st.text(min_size=1, max_size=40), DIGESTS, max_size=5)


@given(
    st.lists(
        st.builds(
            run,
            st.integers(0, 10**5),
            STATES,
            STATES,
            source=st.text(max_size=60),
            cell=st.text(max_size=9),
            status=st.sampled_from(["ok", "error", "interrupted"]),
            between=st.dictionaries(st.text(max_size=50), st.tuples(DIGESTS, DIGESTS), max_size=5),
        ),
        max_size=3,
    )
)
@settings(max_examples=25)
def test_any_text_fits_a_terminal(runs):
    """Each run is one line of at most 80 columns, for any cells and names."""
    for line in write_lines(timeline(runs, "k")):
        assert cell_len(line) <= 80
        assert not unseen(line)
        assert line == line.rstrip()
