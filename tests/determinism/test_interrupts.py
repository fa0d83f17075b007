"""Ctrl-C at any time while a block begins or ends leaves nothing changed."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

import ipytorchseed as its
from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.determinism.table import FLAGS, read_flags, restore_flags
from tests.determinism.settings import scratch

pytestmark = pytest.mark.usefixtures("put_back")

PACKAGE = str(Path(its.__file__).parent)


def _interrupted(count, action):
    """Run ``action``, and send SIGINT at the n-th line of the package.

    Returns:
        Whether there was an n-th line, and whether ``KeyboardInterrupt`` was raised.
    """
    left, sent, raised = count, False, False

    def trace(frame, event, _):
        nonlocal left, sent
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                sent = True
                signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        raised = True
    finally:
        sys.settrace(before)
    return sent, raised


def _everything():
    kind, keys, *rest = np.random.get_state()
    return {
        **read_flags(),
        "python": random.getstate(),
        "numpy": (kind, keys.tobytes(), *rest),
        "torch": torch.get_rng_state().tolist(),
        "filters": [*warnings.filters],
        "showwarning": warnings.showwarning,
        "handler": signal.getsignal(signal.SIGINT),
    }


def _change_much():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = False
    torch.use_deterministic_algorithms(mode=False)
    os.environ["OMP_NUM_THREADS"] = "7"
    random.random()
    np.random.random()
    torch.rand(1)


# --------------------------------------------------------------------------------------------------
# At any line


def test_an_interrupt_at_any_line_of_the_end_comes_after_it():
    """Ctrl-C while a block ends waits until all is restored, and is not lost.

    Before the end has begun to hold it, nothing was restored yet, and the block can be ended.
    """
    untouched = 0
    with scratch():
        before = _everything()
        for count in itertools.count(1):
            block = its.deterministic(42, warn=True, isolate=True)
            block.begin()
            _change_much()
            inside = _everything()
            sent, raised = _interrupted(count, block.end)
            assert raised is sent
            if not sent:
                break
            if _everything() == inside:
                untouched += 1
                block.end()
            assert _everything() == before, f"line {count}"
    assert count > 300
    assert 0 < untouched < 30


def test_an_interrupt_at_any_line_of_the_beginning_undoes_it():
    """Ctrl-C while a block begins leaves all as it was, and the block can begin again."""
    with scratch():
        torch.use_deterministic_algorithms(mode=False, warn_only=True)
        before = _everything()
        for count in itertools.count(1):
            block = its.deterministic(42, warn=True, isolate=True)
            sent, raised = _interrupted(count, block.begin)
            assert raised is sent
            if not sent:
                block.end()
                break
            assert _everything() == before, f"line {count}"
            block.begin()
            block.end()
    assert count > 300


def test_an_interrupt_while_flags_are_put_back_waits():
    """``restore_flags`` raises it after all flags are restored."""

    def interrupt(value):
        signal.raise_signal(signal.SIGINT)
        torch.set_default_dtype(value)

    row = next(flag for flag in FLAGS if flag.name == "torch.default_dtype")
    impatient = msgspec.structs.replace(row, set=interrupt)
    rows = tuple(impatient if flag is row else flag for flag in FLAGS)
    with scratch(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("ipytorchseed.determinism.table.FLAGS", rows)
        saved = read_flags()
        _change_much()
        with pytest.raises(KeyboardInterrupt):
            restore_flags(saved)
        assert read_flags() == saved


# --------------------------------------------------------------------------------------------------
# Holding


def test_what_arrives_is_held_and_comes_at_the_end():
    """The block runs to its end.

    However often Ctrl-C was pressed, one interrupt follows.
    """
    steps = []

    def hold():
        with held_interrupts():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            steps.append("on")

    with pytest.raises(KeyboardInterrupt):
        hold()
    assert steps == ["on"]
    with held_interrupts():
        steps.append("nothing came")


def test_a_block_within_a_block_leaves_the_holding_to_it():
    """The interrupt comes at the end of the outer one, once."""
    steps = []

    def hold():
        with held_interrupts():
            with held_interrupts():
                signal.raise_signal(signal.SIGINT)
                steps.append("inner")
            steps.append("outer")

    with pytest.raises(KeyboardInterrupt):
        hold()
    assert steps == ["inner", "outer"]


def test_an_error_in_the_block_goes_on_and_the_handler_is_put_back():
    """Errors are raised, and afterwards Ctrl-C works as before."""
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="out"), held_interrupts():
        raise ValueError("out")
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_handler_of_the_users_own_is_called():
    """It is called once, after the block."""
    calls = []
    handler = signal.signal(signal.SIGINT, lambda *_: calls.append("called"))
    try:
        with held_interrupts():
            signal.raise_signal(signal.SIGINT)
            calls.append("done")
    finally:
        signal.signal(signal.SIGINT, handler)
    assert calls == ["done", "called"]


def test_an_ignored_interrupt_stays_ignored():
    """Where the process has no handler there is nothing to hold."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held_interrupts():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, handler)


def test_a_block_in_another_thread_works():
    """Only the main thread can set handlers; others are never interrupted."""
    inside = []

    def run():
        with its.deterministic(isolate=True):
            inside.append(torch.are_deterministic_algorithms_enabled())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert inside == [True]
    assert not torch.are_deterministic_algorithms_enabled()


_IMPORTED = """
import signal, sys
import torch, ipytorchseed as its
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "torch._inductor":
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
try:
    with its.deterministic(42):
        print("ran")
except KeyboardInterrupt:
    print(torch.are_deterministic_algorithms_enabled(), "torch._inductor.config" in sys.modules)
"""


def test_what_torch_imports_for_a_scope_is_imported_whole():
    """It takes a second, and torch cannot import again what was imported in part."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False True\n"
