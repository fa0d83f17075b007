"""The edits of `make mutants` match the modules that they edit."""

from __future__ import annotations

from pathlib import Path

import pytest

import ipytorchseed
from tests.why.steps import STEPS, Step

PACKAGE = Path(ipytorchseed.__file__).parent


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS.keys())
def test_the_text_to_replace_is_there_once(step: Step) -> None:
    """Otherwise the mutant would change nothing, or more than one place."""
    text = PACKAGE.joinpath(*step.module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    assert text.count(step.old) == 1
