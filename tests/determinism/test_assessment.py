"""Assesses the flags of a process: problems, worst first, and facts."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest
import torch
from msgspec.structs import replace

import ipytorchseed as its
from ipytorchseed.determinism import assessment as assessment_module
from ipytorchseed.determinism.assessment import Assessment, Standing, assess, judge
from ipytorchseed.determinism.flag import ANY, Flag
from ipytorchseed.determinism.machine import FACTS, Fact, Machine
from ipytorchseed.determinism.table import FLAGS
from tests.determinism.settings import change, scratch

HERE = Machine(torch=(2, 13), cuda=False, xpu=False, started=False)


def _flag(**fields):
    return Flag(**{"name": "flag", "get": lambda: 1, "why": "It matters.", "source": "", **fields})


# --------------------------------------------------------------------------------------------------
# One flag


@pytest.mark.parametrize(
    ("fields", "standing", "ok"),
    [
        ({"wanted": lambda _: 2}, Standing.WRONG, False),
        ({"wanted": lambda _: 2, "late": lambda _: "read at start"}, Standing.LATE, False),
        ({"wanted": lambda _: 1}, Standing.RIGHT, True),
        ({"wanted": lambda _: 1, "late": lambda _: "read at start"}, Standing.RIGHT, True),
        ({"wanted": lambda _: 2, "fits": lambda value, _: value < 2}, Standing.RIGHT, True),
        ({}, Standing.FREE, True),
        ({"late": lambda _: "read at start"}, Standing.FREE, True),
        ({"get": lambda: 1 / 0}, Standing.UNKNOWN, True),
        ({"get": lambda: 1 / 0, "wanted": lambda _: 1}, Standing.UNKNOWN, True),
        ({"wanted": lambda _: 2, "applies": lambda _: False}, Standing.ABSENT, True),
        ({"get": lambda: 1 / 0, "applies": lambda _: False}, Standing.ABSENT, True),
    ],
)
def test_how_a_flag_stands(fields, standing, ok):
    """It depends on the value, the wanted value, ``late`` and ``applies``."""
    judged = judge(_flag(**fields), HERE)
    assert judged.standing is standing
    assert judged.ok is ok


def test_a_judgement_keeps_what_it_was_made_from():
    """Value, wanted value and reason can be shown."""
    judged = judge(_flag(wanted=lambda _: 2, late=lambda _: "read at start"), HERE)
    assert (judged.value, judged.wanted, judged.late) == (1, 2, "read at start")
    assert judge(_flag(), HERE).wanted is ANY


# --------------------------------------------------------------------------------------------------
# All of them


def test_every_row_is_judged_in_the_order_of_the_table():
    """None is left out, including those without effect here."""
    assert [judged.flag for judged in assess().flags][: len(FLAGS)] == [*FLAGS]


def test_settings_of_loaded_libraries_follow():
    """Those that affect numbers are listed with their values. No value is wanted."""
    found = {judged.flag.name: judged for judged in assess().flags[len(FLAGS) :]}
    names = {"torch.set_flush_denormal", "torch.backends.mha.fastpath_enabled"}
    assert {found[name].value for name in names} == {False, True}
    assert {judged.standing for judged in found.values()} == {Standing.FREE}
    assert "numpy.set_printoptions" not in found


def test_the_flags_of_torch_are_right_inside_a_block_and_not_before():
    """A block sets the flags that the assessment requires."""
    settable = {flag.name for flag in FLAGS if flag.late(Machine.here()) is None}
    before = {judged.flag.name for judged in assess().problems}
    with its.deterministic():
        inside = {judged.flag.name for judged in assess().problems}
    assert "torch.use_deterministic_algorithms" in before
    assert inside & settable == set()


def test_a_mode_that_only_warns_is_a_problem():
    """It allows nondeterministic operations."""
    with scratch():
        change("torch.use_deterministic_algorithms(True, warn_only=True)")
        problems = [judged.flag.name for judged in assess().problems]
    assert "torch.use_deterministic_algorithms.warn_only" in problems
    assert "torch.use_deterministic_algorithms" not in problems


def test_problems_come_worst_first():
    """Flags that can be fixed now come before those that need a restart.

    Flags without problems are not listed.
    """
    late = {"wanted": lambda _: 2, "late": lambda _: "too late"}
    rows = [
        _flag(name="late", **late),
        _flag(name="free"),
        _flag(name="wrong", wanted=lambda _: 2),
        _flag(name="unknown", get=lambda: 1 / 0),
        _flag(name="late too", **late),
    ]
    assessment = Assessment(tuple(judge(row, HERE) for row in rows), ())
    assert [judged.flag.name for judged in assessment.problems] == ["wrong", "late", "late too"]
    assert not assessment.repeats
    assert replace(assessment, flags=assessment.flags[1:2]).repeats


@pytest.mark.parametrize(
    ("hash_seed", "expected"), [("0", "True []"), ("random", "False ['PYTHONHASHSEED']")]
)
def test_a_process_that_is_set_up_repeats(hash_seed, expected):
    """With a fixed hash seed and the flags on, there are no problems."""
    program = """
import torch
from ipytorchseed.determinism.assessment import assess
torch.use_deterministic_algorithms(True)
torch.backends.cudnn.deterministic = True
found = assess()
print(found.repeats, [judged.flag.name for judged in found.problems])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == expected


# --------------------------------------------------------------------------------------------------
# Versions and hardware


def test_the_facts_are_those_of_this_process():
    """Versions as the libraries report them, the processor, and the GPU or none."""
    facts = {fact.name: value for fact, value in assess().facts}
    assert [*facts] == ["torch", "numpy", "python", "cpu", "gpu", "cuda", "cudnn"]
    assert facts["torch"] == torch.__version__
    assert facts["numpy"] == np.__version__
    assert facts["python"] == platform.python_version()
    assert torch.backends.cpu.get_cpu_capability() in facts["cpu"]
    assert f"{os.cpu_count()} logical cores" in facts["cpu"]


def test_a_fact_that_cannot_be_had_is_none(monkeypatch):
    """If a driver raises an error, only its row is unknown."""

    def explode():
        msg = "the driver is of another version"
        raise RuntimeError(msg)

    broken = Fact("gpu", explode, unknown="asking failed")
    monkeypatch.setattr(assessment_module, "FACTS", (broken, *FACTS))
    facts = assess().facts
    assert facts[0] == (broken, None)
    assert facts[1][1] == torch.__version__


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.name)
def test_a_fact_says_why_it_may_be_unknown(fact):
    """There is always a reason to show instead of a value."""
    assert fact.unknown
    assert fact.read() is None or fact.read()
