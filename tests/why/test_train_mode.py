"""A model that is evaluated in train mode is named, with what to do."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from ipytorchseed.render.why import WhyView
from tests.render.explanations import (
    SHUFFLED,
    START,
    TRAINED,
    States,
    explain,
    number,
    run,
    states,
    value,
)

TRAIN = {"mode": "train", "rates": "1", "p:w": "1", "b:mean": "1"}
EVAL = {**TRAIN, "mode": "eval"}
UPDATED = {**TRAIN, "b:mean": "2"}
STEPPED = {**TRAIN, "p:w": "2"}
DREW = (START, TRAINED), (TRAINED, SHUFFLED)
STILL = (START, START), (START, START)


def _model(parts):
    return value(str(sorted(parts.items())), "module", parts=parts)


def _named(began, left, drew=STILL, more=()):
    """Return the models that are named for these states of a model.

    Args:
        began: The parts of the model when each of the two runs began.
        left: Its parts when the later run ended; None if it did not change.
        drew: The states of torch's source when each run began and ended.
        more: What else the later run changed, with its kind.
    """
    runs = []
    for n, (parts, moved) in enumerate(zip(began, drew, strict=True), start=1):
        writes = {"out": number(n)}
        writes |= {} if left is None or n == 1 else {"model": _model(left)}
        writes |= {name: value("9", kind) for name, kind in more if n == 2}
        runs.append(
            run(
                n, "out = model(x)", reads={"model": _model(parts)}, writes=writes, **states(*moved)
            )
        )
    said = explain(runs[1], runs[0], runs[:1], States(runs))
    view = WhyView(said, "k")
    keep = json.loads(view.to_json())["keep"]
    named = [each.partition(".")[0] for each in keep if each.endswith(".eval()")]
    assert [f"◆ `{name}` is in train mode" in view.text() for name in named] == [True] * len(named)
    return named


@pytest.mark.parametrize(
    ("began", "left", "drew"),
    [
        ((TRAIN, TRAIN), None, DREW),  # dropout
        ((TRAIN, UPDATED), {**TRAIN, "b:mean": "3"}, STILL),  # batch normalization
        ((EVAL, TRAIN), None, STILL),  # switched since
    ],
)
def test_a_model_that_is_evaluated_in_train_mode_is_named(began, left, drew):
    """It is named first, whether or not its mode changed."""
    assert _named(began, left, drew) == ["model"]


@pytest.mark.parametrize(
    ("began", "left", "drew", "more"),
    [
        ((EVAL, EVAL), None, DREW, ()),
        ((TRAIN, TRAIN), EVAL, DREW, ()),  # the cell calls model.eval() itself
        ((TRAIN, STEPPED), None, STILL, ()),  # other weights, and nothing drawn
        ((TRAIN, TRAIN), STEPPED, DREW, ()),  # it trains
        ((TRAIN, TRAIN), {**TRAIN, "grad": "1"}, DREW, ()),
        ((TRAIN, TRAIN), None, DREW, [("opt", "optimizer")]),
        (({"mode": "train", "p:w": "1"},) * 2, None, DREW, ()),  # no layer with two modes
    ],
)
def test_no_other_model_is_named(began, left, drew, more):
    """Models that train, are in eval mode or have no layers with modes are not named."""
    assert _named(began, left, drew, more) == []


def test_nothing_is_said_without_a_cause():
    """This applies if the result is the same."""
    runs = [run(n, "model(x)", reads={"model": _model(TRAIN)}) for n in (1, 2)]
    said = explain(runs[1], runs[0], runs[:1], States(runs))
    assert "train mode" not in WhyView(replace(said, causes=()), "k").text()
