"""The receipt of a deterministic block, as one line of JSON."""

from __future__ import annotations

import json

import pytest
import torch

import ipytorchseed as its
from ipytorchseed.render.scope import receipt_json

pytestmark = pytest.mark.usefixtures("put_back")


def test_a_receipt_tells_what_was_given_and_what_was_set():
    """It has the seed, the options, and each changed flag's value before and within."""
    with its.deterministic(7, isolate=True, cudnn=False) as block:
        pass
    line = receipt_json(block)
    told = json.loads(line)
    assert "\n" not in line
    assert set(told) == {
        "schema",
        "seed",
        "warn",
        "isolated",
        "flags",
        "alerts",
        "restored",
        "stuck",
    }
    assert (told["schema"], told["seed"], told["warn"], told["isolated"]) == (1, 7, False, True)
    flags = {flag["name"]: (flag["before"], flag["within"]) for flag in told["flags"]}
    assert flags["torch.use_deterministic_algorithms"] == (False, True)
    assert flags["torch.backends.cudnn.enabled"] == (True, False)
    assert (told["alerts"], told["restored"], told["stuck"]) == ([], True, [])


def test_a_receipt_without_a_seed_says_null():
    """No seed differs from seed 0."""
    with its.deterministic() as block:
        pass
    assert json.loads(receipt_json(block))["seed"] is None


@pytest.mark.filterwarnings("ignore::ipytorchseed.determinism.scope.NondeterministicWarning")
def test_a_receipt_lists_alerts():
    """Each alert has the operation, line, count and replacement."""
    with its.deterministic(warn=True) as block:
        for _ in range(2):
            torch.zeros(2).put_(torch.tensor([1]), torch.ones(1))
    (alert,) = json.loads(receipt_json(block))["alerts"]
    assert set(alert) == {"operation", "line", "forward", "count", "instead"}
    assert (alert["operation"], alert["count"]) == ("put_", 2)


def test_flags_that_torch_would_not_set_back_are_named():
    """In that case the receipt does not claim that all was restored."""
    with its.deterministic() as block:
        pass
    block.stuck = ["torch.num_interop_threads"]
    told = json.loads(receipt_json(block))
    assert (told["restored"], told["stuck"]) == (False, ["torch.num_interop_threads"])
