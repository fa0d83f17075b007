"""Causes are traced back to what no recorded run explains."""

from __future__ import annotations

import gc

import pytest

from ipytorchseed.ledger.records import Finding, Findings
from ipytorchseed.why import roots
from ipytorchseed.why.tested import with_findings, with_newer
from tests.render.explanations import (
    AGAIN,
    DONE,
    MORE,
    SHUFFLED,
    START,
    TRAINED,
    UNTRAINED,
    States,
    explain,
    number,
    run,
    states,
)

READ = "loss = test(model)"
MAKE = "model = Net()"


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (run(2, "train(model)", reads={"model": UNTRAINED}, writes={"model": DONE}), True),
        (run(2, "model = Other()", cell="other", writes={"model": DONE}), False),
    ],
)
def test_another_cell_that_made_it_again_ends_the_search(between, expected):
    """A cell that trains it does not end the search."""
    runs = [
        run(1, MAKE, **states(START, TRAINED), writes={"model": UNTRAINED}),
        between,
        run(3, READ, reads={"model": DONE}, writes={"loss": number(2.3)}),
        run(4, MAKE, **states(SHUFFLED, AGAIN), writes={"model": MORE}),
        run(5, READ, reads={"model": MORE}, writes={"loss": number(1.9)}),
    ]
    said = explain(runs[4], runs[2], runs[2:4], States(runs))
    assert [cause.name for cause in said.causes] == ["model"]
    (root,) = said.roots
    assert (root.kind, root.name, root.path) == (
        ("rng", "torch.cpu", ("model",)) if expected else ("input", "model", ())
    )


def test_no_garbage_is_collected_meanwhile():
    """In a large process, one collection would take all the time for tracing."""
    enabled = []

    class Watching(States):
        def latest(self, of):
            enabled.append(gc.isenabled())
            return super().latest(of)

    runs = _chain(2)
    explain(runs[3], runs[1], runs[1:3], Watching(runs))
    assert enabled
    assert not any(enabled)
    assert gc.isenabled()


def _chain(length, edit=("a0 = 1", "a0 = 2")):
    """Return runs of cells that each make a variable of the one before, twice."""
    runs = []
    for again in (0, 1):
        for n in range(length):
            source = edit[again] if n == 0 else f"a{n} = a{n - 1}"
            runs.append(
                run(
                    len(runs) + 1,
                    source,
                    cell=f"c{n}",
                    code=source,
                    reads={} if n == 0 else {f"a{n - 1}": number(10 * n + again)},
                    writes={f"a{n}": number(10 * (n + 1) + again)},
                )
            )
    return runs


@pytest.mark.parametrize("length", [2, 3, 12])
def test_a_cause_is_traced_through_all_cells_that_made_it(length):
    """The root is the edit with its changed lines; the variables are the path."""
    runs = _chain(length)
    said = explain(runs[-1], runs[length - 1], runs[length - 1 : -1], States(runs))
    (root,) = said.roots
    assert root.message == f"In[{length + 1}] was edited: `a0 = 1` → `a0 = 2`"
    assert root.path == tuple(f"a{n}" for n in range(length - 1))
    assert [each.how for each in root.blame] == ["edited"]
    assert runs[length].id in [each.run.id for each in said.causes[0].blame]
    assert said.causes[0].name == f"a{length - 2}"


@pytest.mark.parametrize(("limit", "most"), [("_MAX_PAIRS", 3), ("_SECONDS", -1)])
def test_a_message_says_that_tracing_stopped_early(monkeypatch, limit, most):
    """The reported root is then only the last input that was reached."""
    monkeypatch.setattr(roots, limit, most)
    runs = _chain(12)
    said = explain(runs[-1], runs[11], runs[11:-1], States(runs))
    (root,) = said.roots
    assert root.kind == "input"
    assert root.message.endswith(" (not traced further back)")


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (("a0 = 1\nb = 1", "a0 = 2\nb = 1"), "`a0 = 1` → `a0 = 2`"),
        (("a0 = 1", "b = 3\na0 = 1"), "added `b = 3`"),
        (("b = 3\na0 = 1", "a0 = 1"), "removed `b = 3`"),
        (("a0 = 1", "a0 = 2\nb = 3\nc = 4"), "now `a0 = 2` and 2 more lines"),
    ],
)
def test_an_edit_is_shown_by_its_changed_lines(edit, expected):
    """The first line of the cell is not used."""
    runs = _chain(2, edit)
    said = explain(runs[3], runs[1], runs[1:3], States(runs))
    assert said.roots[0].message == f"In[3] was edited: {expected}"


def test_a_root_is_listed_once_whatever_it_reaches():
    """Two inputs come from one edit; each is a cause."""
    runs = []
    for again in (0, 1):
        values = {name: number(10 * place + again) for place, name in enumerate("ab", 1)}
        source = f"a, b = make({again})"
        runs.append(run(len(runs) + 1, source, cell="m", code=source, writes=values))
        made = {"c": number(100 + again)}
        runs.append(run(len(runs) + 1, "c = a + b", cell="c", reads=values, writes=made))
    said = explain(runs[3], runs[1], runs[1:3], States(runs))
    assert {cause.name for cause in said.causes} == {"a", "b"}
    (root,) = said.roots
    assert {name for _, name in root.via} == {"a", "b"}


def test_the_roots_of_what_has_no_effect_are_not_listed():
    """Roots of proved causes come first."""
    runs = []
    for again in (0, 1):
        values = {}
        for place, name in enumerate("xyz", 1):
            values[name] = number(10 * place + again)
            source = f"{name} = {again}"
            made = {name: values[name]}
            runs.append(run(len(runs) + 1, source, cell=name, code=source, writes=made))
        made = {"c": number(100 + again)}
        runs.append(run(len(runs) + 1, "c = f()", cell="c", reads=values, writes=made))
    said = explain(runs[7], runs[3], runs[3:7], States(runs))
    assert len(said.roots) == 3
    levels = {"x": "may-matter", "y": "no effect", "z": "proved"}
    found = Findings(tuple(("input", name, Finding(level)) for name, level in levels.items()))
    expected = with_findings(said, found, "k")
    assert [root.path for root in expected.roots] == [("z",), ("x",)]


def test_an_earlier_cell_is_followed_to_its_proved_causes():
    """If several things differ and were not tested, all are followed."""
    runs = []
    for again in (0, 1):
        values = {name: number(10 * place + again) for place, name in enumerate("ab", 1)}
        for name in "ab":
            source = f"{name} = {again}"
            made = {name: values[name]}
            runs.append(run(len(runs) + 1, source, cell=name, code=source, writes=made))
        made = {"c": number(50 + again)}
        runs.append(run(len(runs) + 1, "c = a + b", cell="c", reads=values, writes=made))
        made = {"d": number(90 + again)}
        reads = {"c": number(50 + again)}
        runs.append(run(len(runs) + 1, "d = f(c)", cell="d", reads=reads, writes=made))
    known = States(runs)
    said = explain(runs[7], runs[3], runs[3:7], known)
    assert {root.path for root in said.roots} == {("a", "c"), ("b", "c")}
    ((later, earlier),) = said.makers
    assert (later.id, earlier.id) == (7, 3)
    levels = {"a": "no effect", "b": "proved"}
    found = Findings(tuple(("input", name, Finding(level)) for name, level in levels.items()))
    known.found[7, 3] = found
    fresh = explain(runs[7], runs[3], runs[3:7], known)
    assert [root.path for root in fresh.roots] == [("b", "c")]
    assert not fresh.makers
    assert [root.path for root in with_newer(said, fresh).roots] == [("b", "c")]
    known.found[7, 3] = Findings((("input", "a", Finding("no effect")),))
    assert len(explain(runs[7], runs[3], runs[3:7], known).roots) == 1


def test_tracing_ends_where_cells_make_one_another():
    """A pair of runs is compared only once."""
    runs = []
    for again in (0, 1, 2):
        for name, other in ("ab", "ba"):
            reads = {other: number(again + 10 * (other == "a"))} if again else {}
            runs.append(
                run(
                    len(runs) + 1,
                    f"{name} = f({other})",
                    cell=name,
                    reads=reads,
                    writes={name: number(again + 1 + 10 * (name == "a"))},
                )
            )
    said = explain(runs[5], runs[3], runs[3:5], States(runs))
    assert said.roots
