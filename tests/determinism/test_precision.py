"""The float32 precision family: old and new names overwrite each other."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings

import ipytorchseed as its
from ipytorchseed.determinism import precision
from ipytorchseed.determinism.flag import Unreadable
from tests.determinism.settings import PRECISION_CHANGES, all_told, change, lines, scratch

new_names = pytest.mark.skipif(torch.__version__ < "2.9", reason="fp32_precision came with 2.9")


def _family():
    return {flag.name: flag.read() for flag in precision.FLAGS}


@settings(max_examples=300)
@given(before=lines(PRECISION_CHANGES, at_most=5), inside=lines(PRECISION_CHANGES, at_most=5))
def test_the_family_is_put_back_from_any_state_to_any_state(before, inside):
    """All rows read as before, including unreadable ones."""
    with scratch():
        change(*before)
        saved, told = _family(), all_told()
        change(*inside)
        precision.restore(saved)
        assert _family() == saved
        assert all_told() == told


@pytest.mark.parametrize("before", ["", *PRECISION_CHANGES])
def test_any_one_change_is_undone_after_any_other(before):
    """Each line set in a block is undone after it, whatever was set before."""
    with scratch():
        change(before)
        told = all_told()
        for inside in PRECISION_CHANGES:
            saved = _family()
            change(inside)
            precision.restore(saved)
            assert all_told() == told, inside


@new_names
def test_a_state_that_torch_refuses_to_tell_is_put_back_as_such():
    """The family is inconsistent before, consistent inside, and inconsistent after."""
    with scratch():
        change("torch.backends.cuda.matmul.fp32_precision = 'tf32'")
        saved = _family()
        assert isinstance(saved["torch.float32_matmul_precision"], Unreadable)
        with its.deterministic():
            change("torch.set_float32_matmul_precision('high')")
            assert _family()["torch.float32_matmul_precision"] == "high"
        assert _family() == saved


# --------------------------------------------------------------------------------------------------
# What reads alike and is not: a value of one's own, and the same one from the level above


CASES = [
    ("", "torch.set_float32_matmul_precision('high')"),
    ("", "torch.backends.cuda.matmul.allow_tf32 = True"),
    ("", "torch.backends.fp32_precision = 'bf16'"),
    ("torch.backends.fp32_precision = 'bf16'", "torch.backends.fp32_precision = 'tf32'"),
    ("torch.backends.fp32_precision = 'tf32'", "torch.set_float32_matmul_precision('medium')"),
    ("torch.backends.cudnn.conv.fp32_precision = 'tf32'", "torch.backends.fp32_precision = 'tf32'"),
    (
        "torch.backends.mkldnn.conv.fp32_precision = 'tf32'",
        "torch.backends.fp32_precision = 'tf32'",
    ),
]

PROGRAM = """
import json, os, sys, torch
import ipytorchseed as its
from ipytorchseed.determinism import precision

with its.deterministic():  # the first one imports inductor's settings
    pass

def after(before, inside):
    exec(before)
    with its.deterministic():
        exec(inside)
    torch.backends.fp32_precision = "ieee"
    return {flag.name: str(flag.read()) for flag in precision.FLAGS}

for before, inside in json.loads(sys.argv[1]):
    if os.fork() == 0:
        print(json.dumps(after(before, inside)), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def afterwards():
    """Run each case with its block and with an empty one; then set the top level.

    Each runs in its own process, since torch's initial state cannot be set again.
    """
    pairs = [pair for before, inside in CASES for pair in [(before, inside), (before, "")]]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(pairs)], capture_output=True, check=True
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(zip(pairs, said, strict=True))


@new_names
@pytest.mark.parametrize(("before", "inside"), CASES)
def test_what_a_block_did_not_touch_keeps_inheriting(afterwards, before, inside):
    """After the block, a level above still reaches the levels that it reached before."""
    assert afterwards[before, inside] == afterwards[before, ""]


@new_names
def test_what_torch_begins_with_inherits(afterwards):
    """Convolutions on GPU start with tf32 and follow the level above.

    So the test above can fail.
    """
    untouched = afterwards["", "torch.backends.fp32_precision = 'bf16'"]
    assert untouched["torch.backends.cudnn.conv.fp32_precision"] == "ieee"
    torn = afterwards["torch.backends.cudnn.conv.fp32_precision = 'tf32'", ""]
    assert torn["torch.backends.cudnn.conv.fp32_precision"] == "tf32"
