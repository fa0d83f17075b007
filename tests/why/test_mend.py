"""The way back to an earlier result: which commands, in which order, and when there is none.

That the commands do bring it back is tried in every scenario of ``tests/scenarios``.
"""

from __future__ import annotations

from msgspec.structs import replace

from ipytorchseed.why.explain import explain
from tests.render.explanations import AGAIN, START, TRAINED, States, run, states, value

OLD, NEW, OTHER = value("01", "tensor"), value("02", "tensor"), value("03", "tensor")


def _mend(*runs):
    """Explain the last of the runs by the first of its cell, and return the way back."""
    last = runs[-1]
    against = next(each for each in runs if each.cell == last.cell)
    history = runs[runs.index(against) : -1]
    said = explain(last, against, history, States(runs))
    assert said.verdict == "explained", said
    return said.mend.commands, said.mend.complete


def _use(number, read, made, **more):
    return run(number, "out = f(x)", reads={"x": read}, writes={"out": made}, **more)


def test_an_input_is_made_anew_by_the_cell_that_made_it():
    """Under the number that it had."""
    make = run(1, "x = load()", writes={"x": OLD})
    spoil = run(3, "x.add_(1)", reads={"x": OLD}, writes={"x": NEW})
    assert _mend(make, _use(2, OLD, OLD), spoil, _use(4, NEW, NEW)) == (("%rerun 1",), True)


def test_what_that_cell_read_is_made_anew_before():
    """And it is given the states that it drew from."""
    first = run(1, "y = base()", writes={"y": OLD})
    make = run(2, "x = grow(y)", **states(START, TRAINED), reads={"y": OLD}, writes={"x": OLD})
    spoil = run(4, "y *= 2; x *= 2", reads={"x": OLD, "y": OLD}, writes={"x": NEW, "y": NEW})
    commands, complete = _mend(first, make, _use(3, OLD, OLD), spoil, _use(5, NEW, NEW))
    assert commands == ("%rerun 1", "%seed rewind 2", "%rerun 2")
    assert complete


def test_a_cell_that_makes_from_nothing_comes_before_one_that_changes():
    """Putting weights back needs a model to put them into."""
    make = run(1, "x = load()", writes={"x": OLD})
    spoil = run(3, "x.add_(1)", reads={"x": OLD}, writes={"x": NEW})
    back = run(4, "x.sub_(1)", reads={"x": NEW}, writes={"x": OLD})
    runs = make, _use(2, OLD, OLD), spoil, back, spoil, _use(6, NEW, NEW)
    assert _mend(*runs) == (("%rerun 1",), True)


def test_where_nothing_recorded_made_it_there_is_no_way_back():
    """That is said, and nothing is proposed that would not help."""
    spoil = run(3, "x.add_(1)", reads={"x": OLD}, writes={"x": NEW})
    assert _mend(_use(2, OLD, OLD), spoil, _use(4, NEW, NEW)) == ((), False)


def test_a_maker_that_asks_for_entropy_is_no_way_back():
    """Run again, it makes something else; a clock that it only reads does not matter."""
    for asks, way in ((("os.urandom",), ((), False)), (("time.time",), (("%rerun 1",), True))):
        make = run(1, "x = load()", writes={"x": OLD}, nondeterministic_calls=asks)
        spoil = run(3, "x.add_(1)", reads={"x": OLD}, writes={"x": NEW})
        assert _mend(make, _use(2, OLD, OLD), spoil, _use(4, NEW, NEW)) == way


def test_a_circle_ends():
    """Each of two cells needs what the other made."""
    one = run(1, "x = a(y)", reads={"y": NEW}, writes={"x": OLD})
    two = run(2, "y = b(x)", reads={"x": OTHER}, writes={"y": NEW})
    three = run(3, "x = c(y)", reads={"y": OLD}, writes={"x": OTHER, "y": OLD})
    spoil = run(5, "x = y = 0", writes={"x": NEW, "y": OTHER})
    assert _mend(one, two, three, _use(4, OLD, OLD), spoil, _use(6, NEW, NEW)) == ((), False)


def test_sources_are_put_back_last():
    """After settings and inputs: what makes these anew may draw."""
    make = run(1, "x = load()", **states(START, START), writes={"x": OLD})
    first = _use(2, OLD, OLD, **states(START, TRAINED))
    spoil = run(3, "x.add_(1)", reads={"x": OLD}, writes={"x": NEW}, **states(TRAINED, TRAINED))
    last = _use(4, NEW, NEW, **states(TRAINED, AGAIN))
    last = replace(last, settings={**last.settings, "torch.num_threads": 1})
    commands, complete = _mend(make, first, spoil, last)
    assert commands == ("torch.set_num_threads(2)", "%rerun 1", "%seed rewind 2")
    assert complete


def test_a_source_that_began_alike_is_put_back_too():
    """The cell has drawn from it since: run again as it stands, it would draw other numbers."""
    make = run(1, "x = load()", **states(START, START), writes={"x": OLD})
    first = _use(2, OLD, OLD, **states(START, TRAINED))
    spoil = run(
        3, "x.add_(1); seed()", reads={"x": OLD}, writes={"x": NEW}, **states(TRAINED, START)
    )
    last = _use(4, NEW, NEW, **states(START, TRAINED))
    assert _mend(make, first, spoil, last) == (("%rerun 1", "%seed rewind 2"), True)


def test_what_no_command_brings_back_makes_it_incomplete():
    """A setting of the process, a file, a clock."""
    first = run(2, "out = f()", writes={"out": OLD})
    last = run(4, "out = f()", writes={"out": NEW}, settings={**first.settings, "python": "3.99"})
    assert _mend(first, last) == ((), False)
