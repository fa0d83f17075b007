"""Finds exactly one planted difference between two processes, with its line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ipytorchseed.trace.comparing import compare
from ipytorchseed.trace.loading import load
from tests.trace.plantings import MODELS, PLANTINGS, STEPS, record, text_of

pytestmark = pytest.mark.usefixtures("put_back")

CASES = [(model, name) for model in MODELS for name in PLANTINGS]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Return traces of each unchanged training, each from a separate process."""
    folder = tmp_path_factory.mktemp("originals")
    subprocess.run(
        [sys.executable, "-m", "tests.trace.plantings", str(folder)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        check=True,
    )
    return folder


@pytest.mark.parametrize(("model", "name"), CASES, ids=[" ".join(case) for case in CASES])
def test_what_was_planted_is_found(originals, tmp_path, model, name):
    """Its kind and line are found in runs of unequal length, also with a tolerance.

    Nothing is found if runs compute the same.
    """
    planting = PLANTINGS[name]
    at = sum(map(ord, model + name)) % (STEPS - 1)
    longer = planting.kind is not None
    text = text_of(model, STEPS + longer, planting, at)
    record(text, tmp_path / "b.trace")
    a, b = load(originals / f"{model}.trace"), load(tmp_path / "b.trace")
    assert len(b) > len(a) - 60
    for rtol in (None, 1e-9):
        first = compare(a, b, rtol).first
        if planting.kind is None:
            assert first is None
            continue
        assert first is not None
        assert first.kind == planting.kind
        shown = first.a if planting.kind == "only-a" else first.b
        whole = text_of(model, STEPS) if planting.kind == "only-a" else text
        marked = [n for n, line in enumerate(whole.splitlines(), 1) if planting.mark in line]
        assert [shown.place.line] == marked
