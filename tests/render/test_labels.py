"""The number that a cell showed last has the cell's label for it, or none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.render.labels import DIGITS, shown_numbers
from ipytorchseed.session.outputs import text_value
from ipytorchseed.why.value_changes import write_step
from tests.records import changed
from tests.render.explanations import run


def _ran(source, printed=None, result=None, **values):
    number = {name: Fingerprint(name, "float", "", series=(each,)) for name, each in values.items()}
    made = replace(run(3, source), writes=number)
    if result is not None:
        made = changed(made, result=Fingerprint("r", "float", "", series=(result,)))
    return made if printed is None else changed(made, stdout=text_value(printed))


def shown_number(ran):
    """Return the number that a run showed last; None if unknown."""
    return next(reversed(shown_numbers(ran)), None)


@pytest.mark.parametrize(
    ("source", "printed", "shown"),
    [
        ("print(f'acc {x:.3f}')", "acc 0.533\n", "acc 0.533"),
        ("print(f'{x=:.3f}')", "x=0.533\n", "x 0.533"),
        ("print(f'epoch {e}: val loss = {l:.2f}, acc: {a:.1%}')", "epoch 3: val loss = 0.25, acc: 9.5%\n",
         "acc 9.5%"),
        ("print('acc', x)", "acc 0.5\n", "acc 0.5"),
        ("print('acc', x, y.mean())", "acc 0.5 0.25\n", "acc 0.5"),
        ("print('acc', x, 'loss', y)", "acc 0.5 loss 0.25\n", "loss 0.25"),
        ("print('acc:', x.item())", "acc: 0.5\n", "acc 0.5"),
        ("print(scores[:3].mean())", "0.5\n", "scores[:3].mean() 0.5"),
        ("print(scores.mean)", "0.5\n", "scores.mean 0.5"),
        ("print(f'top-5 accuracy {x:.2f} of 100')", "top-5 accuracy 0.25 of 100\n", "top-5 accuracy 0.25"),
        ("for e in range(2):\n    if e:\n        print(f'loss {l:.2f}')", "loss 0.25\n", "loss 0.25"),
        ("%%time\nprint(f'loss {l:.2f}')", "loss 0.25\n", "loss 0.25"),
        ("print(f'loss {l:.2f}')\nplt.plot(losses)", "loss 0.25\n", "loss 0.25"),
        ("print('start')\nprint(f'loss {l:.2f}')\ndone = 1", "start\nloss 0.25\n", "loss 0.25"),
    ],
)  # fmt: skip
def test_a_printed_number_has_the_words_before_it(source, printed, shown):
    """Of several numbers it is the last that has any."""
    assert str(shown_number(_ran(source, printed))) == shown


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("print(f'loss {l:.2f}')\nevaluate(model)", "loss 0.25\n0.9\n"),
        ("print(f'loss {l:.2f}')\nif best:\n    print(f'acc {a:.2f}')", "loss 0.25\n"),
        ("print('loss', losses)", "loss [1.0, 2.0]\n"),
        ("print('5 epochs, loss', f'{l:.2f}')", "0.25\n"),
        ("print('nothing')", "nothing 1\n"),
        ("train()", "loss 0.25\n"),
        ("print(f'loss {l:.2f}", "loss 0.25\n"),
    ],
)
def test_a_number_that_may_be_another_has_no_label(source, printed):
    """For example, something else may have printed after it."""
    assert shown_number(_ran(source, printed)) is None


def test_a_variable_confirms_its_number_or_refutes_it():
    """The printed number may be rounded."""
    source = "print(f'loss {l:.2f}')\nevaluate(model)"
    assert str(shown_number(_ran(source, "loss 0.25\n", l=0.2514))) == "loss 0.25"
    assert shown_number(_ran(source, "loss 0.25\n0.9\n", l=0.2514)) is None
    assert shown_number(_ran("print('loss', l)", "loss 0.25\n", l=0.3)) is None


def test_a_result_is_called_by_the_last_statement():
    """The result is shown below all printed text."""
    assert str(shown_number(_ran("print('acc', 1)\nscore", "acc 1\n", result=0.5))) == "score 0.5"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (0.93812, 0.97101, "0.9381 → 0.971"),
        (0.93812, 0.93814, "0.93812 → 0.93814"),
        (1234567.0, 1234568.0, "1234567 → 1234568"),
        (1.0, float("nan"), "1 → nan"),
    ],
)
def test_a_step_has_as_few_digits_as_tell_its_sides_apart(before, after, told):
    """Four digits, or more if the numbers differ only further down."""
    assert write_step(before, after, DIGITS) == told
