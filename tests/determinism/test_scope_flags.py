"""A deterministic block sets the needed flags, and restores every flag."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings

import ipytorchseed as its
from ipytorchseed.determinism import scope as scope_module
from ipytorchseed.determinism import table as table_module
from ipytorchseed.determinism.flag import ANY, Flag
from ipytorchseed.determinism.machine import Machine
from ipytorchseed.determinism.scope import wanted_flags
from ipytorchseed.determinism.table import FLAGS, read_flags, restore_flags
from ipytorchseed.errors import ScopeError, SeedError
from tests.determinism.settings import all_told, change, lines, scratch


def _row(name):
    return next(flag for flag in FLAGS if flag.name == name)


# --------------------------------------------------------------------------------------------------
# Inside


@given(before=lines())
@pytest.mark.parametrize("warn", [False, True])
def test_inside_the_flags_are_as_repeatability_needs_them(warn, before):
    """Whatever was set before.

    Deterministic algorithms, inductor's mode, filled memory.
    """
    with scratch():
        change(*before)
        with its.deterministic(warn=warn):
            assert torch.are_deterministic_algorithms_enabled()
            assert torch.is_deterministic_algorithms_warn_only_enabled() is warn
            assert getattr(torch._inductor.config, "deterministic", True) is True  # from 2.10 on
            assert torch.utils.deterministic.fill_uninitialized_memory is True


@given(before=lines())
def test_inside_what_needs_nothing_is_left_alone(before):
    """A block changes no flag for which any value serves."""
    with scratch():
        change(*before)
        machine = Machine.here()
        free = [flag.name for flag in FLAGS if flag.wanted(machine) is ANY]
        found = read_flags()
        with its.deterministic():
            now = read_flags()
        assert {name: now[name] for name in free} == {name: found[name] for name in free}


@pytest.mark.parametrize("cudnn", [True, False])
def test_cudnn_is_switched_off_on_request_only(cudnn):
    """``cudnn=False`` disables it in the block, also without a GPU."""
    with its.deterministic(cudnn=cudnn):
        assert torch.backends.cudnn.enabled is cudnn
    assert torch.backends.cudnn.enabled is True


def test_uninitialized_memory_is_filled_inside():
    """``torch.empty`` shows NaN, not what memory held."""
    with its.deterministic():
        assert torch.empty(100).isnan().all()


def test_what_is_too_late_is_not_set(monkeypatch):
    """A flag that this process has read for the last time is left as it is."""
    machine = Machine(torch=(2, 9), cuda=True, xpu=False, started=True)
    monkeypatch.setattr(Machine, "here", lambda: machine)
    assert "CUBLAS_WORKSPACE_CONFIG" not in {flag.name for flag, _ in wanted_flags()}
    with its.deterministic():
        assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ


def test_cublas_is_configured_where_it_is_in_time(monkeypatch):
    """With an old torch without CUDA started, the variable is set only in the block."""
    machine = Machine(torch=(2, 9), cuda=True, xpu=False, started=False)
    monkeypatch.setattr(Machine, "here", lambda: machine)
    with its.deterministic():
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
        assert torch.backends.cudnn.deterministic is True
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
    assert torch.backends.cudnn.deterministic is False


def test_what_serves_already_is_not_set(monkeypatch):
    """Of the two values that cuBLAS takes, the user's own stays."""
    machine = Machine(torch=(2, 9), cuda=True, xpu=False, started=False)
    monkeypatch.setattr(Machine, "here", lambda: machine)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    with its.deterministic() as block:
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
    assert "CUBLAS_WORKSPACE_CONFIG" not in {name for name, *_ in block.changes}


@given(before=lines())
def test_changes_lists_what_the_block_set(before):
    """Each flag that was not as wanted, with its value before and within.

    Nothing else.
    """
    with scratch():
        change(*before)
        found = read_flags()
        with its.deterministic() as block:
            inside = read_flags()
        moved = [(name, old, inside[name]) for name, old in found.items() if old != inside[name]]
        assert block.changes == moved


# --------------------------------------------------------------------------------------------------
# After


@settings(max_examples=200)
@given(before=lines(), inside=lines())
def test_after_the_block_every_flag_reads_as_before(before, inside):
    """Whatever was set before and whatever the block sets, in any order."""
    with scratch():
        change(*before)
        found, told = read_flags(), all_told()
        with its.deterministic() as block:
            change(*inside)
        assert read_flags() == found
        assert all_told() == told
        assert block.stuck == []


@given(before=lines(at_most=4), outer=lines(at_most=4), inner=lines(at_most=4))
def test_nested_blocks_each_restore_what_they_found(before, outer, inner):
    """Each block restores the settings from before it."""
    with scratch():
        change(*before)
        found = read_flags()
        with its.deterministic(warn=True):
            change(*outer)
            between = read_flags()
            with its.deterministic():
                change(*inner)
            assert read_flags() == between
        assert read_flags() == found


def _change_and_raise(inside, error):
    change(*inside)
    raise error


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
@given(inside=lines(at_most=5))
@settings(max_examples=10)
def test_an_error_in_the_block_changes_nothing_of_this(kind, inside):
    """Flags are restored and the error goes on, the same object."""
    error = kind("out")
    with scratch():
        found = read_flags()
        with pytest.raises(kind) as caught, its.deterministic():
            _change_and_raise(inside, error)
        assert caught.value is error
        assert read_flags() == found


@pytest.mark.parametrize("warn_only", [True, False])
def test_both_bits_of_deterministic_algorithms_are_put_back(warn_only):
    """The mode may keep ``warn_only`` while it is off, and so it is after the block."""
    with scratch():
        torch.use_deterministic_algorithms(mode=False, warn_only=warn_only)
        with its.deterministic():
            torch.use_deterministic_algorithms(mode=True, warn_only=not warn_only)
        assert not torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled() is warn_only


@pytest.mark.skipif(torch.__version__ < "2.10", reason="inductor's flag came with 2.10")
def test_inductor_keeps_a_mode_of_its_own():
    """``set_deterministic_debug_mode`` leaves inductor's flag alone.

    So it is after the block.
    """
    with scratch():
        torch.set_deterministic_debug_mode("error")
        assert torch._inductor.config.deterministic is False
        with its.deterministic():
            assert torch._inductor.config.deterministic is True
        assert torch.are_deterministic_algorithms_enabled()
        assert torch._inductor.config.deterministic is False


@pytest.mark.skipif(torch.__version__ < "2.7", reason="torch 2.6 itself fails at it")
def test_a_device_context_around_the_block_is_kept():
    """A default device set inside goes; the ``with torch.device`` outside still holds."""
    with scratch(), torch.device("meta"):
        with its.deterministic():
            torch.set_default_device("cpu")
        assert torch.empty(1).device.type == "meta"


def test_a_variable_set_in_the_block_is_put_back():
    """Also one that torch read at its start: processes started later would read it."""
    with scratch():
        os.environ["MKL_NUM_THREADS"] = "3"
        with its.deterministic() as block:
            os.environ["OMP_NUM_THREADS"] = "7"
            del os.environ["MKL_NUM_THREADS"]
        assert "OMP_NUM_THREADS" not in os.environ
        assert os.environ["MKL_NUM_THREADS"] == "3"
        assert block.stuck == []


def test_a_thread_count_that_can_be_set_once_is_named():
    """``stuck`` lists what stays changed: inter-op threads can be set only once."""
    program = """
import torch, ipytorchseed as its
with its.deterministic() as block:
    torch.set_num_interop_threads(torch.get_num_interop_threads() + 1)
print(block.stuck, block.changes[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "['torch.num_interop_threads'] ('torch.use_deterministic_algorithms', False, True)"
    ]


def test_a_mode_that_was_not_left_is_named():
    """So is a mode entered inside: torch leaves it only where it was entered."""
    mode = torch.inference_mode()
    block = its.deterministic()
    with block:
        mode.__enter__()
    assert block.stuck == ["torch.inference_mode_enabled"]
    mode.__exit__(None, None, None)


def test_a_setter_that_fails_hinders_no_other(monkeypatch):
    """A flag that refuses is named, and the flags after it are restored."""

    def refuse(_):
        msg = "not now"
        raise RuntimeError(msg)

    broken = Flag(name="broken", get=lambda: state["value"], set=refuse, why="", source="")
    state = {"value": 0}
    monkeypatch.setattr("ipytorchseed.determinism.table.FLAGS", (broken, *FLAGS))
    with scratch():
        saved = read_flags()
        state["value"] = 1
        torch.set_default_dtype(torch.float64)
        assert restore_flags(saved) == ["broken"]
        assert torch.get_default_dtype() == torch.float32


# --------------------------------------------------------------------------------------------------
# Beginning and ending


def test_a_block_cannot_begin_twice():
    """Entering twice is an error that says what to do, and changes nothing."""
    block = its.deterministic()
    with block:
        inside = read_flags()
        with pytest.raises(ScopeError, match="create another one to nest it"):
            block.begin()
        assert read_flags() == inside
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_block_can_be_used_again_after_its_end():
    """One object serves for many blocks, one after the other."""
    block = its.deterministic()
    for dtype in (torch.float64, torch.float16):
        with block:
            assert torch.are_deterministic_algorithms_enabled()
            torch.set_default_dtype(dtype)
        assert torch.get_default_dtype() == torch.float32


def test_ending_without_beginning_or_twice_does_nothing():
    """``end`` may be called at any time; settings made after it stay."""
    block = its.deterministic()
    with scratch():
        block.end()
        block.begin()
        block.end()
        torch.set_default_dtype(torch.float64)
        block.end()
        assert torch.get_default_dtype() == torch.float64


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("place", range(5))
def test_beginning_that_fails_half_way_is_undone(monkeypatch, error, place):
    """Flags are restored, the error is raised, and the block can be entered again."""

    def refuse(_):
        raise error

    broken = Flag(name="broken", get=lambda: 0, set=refuse, why="", source="", wanted=lambda _: 1)
    with scratch():
        torch.use_deterministic_algorithms(mode=False, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False
        found = read_flags()
        block = its.deterministic(warn=False)
        with monkeypatch.context() as patch:
            for module in (scope_module, table_module):
                patch.setattr(module, "FLAGS", (*FLAGS[:place], broken, *FLAGS[place:]))
            with pytest.raises(type(error)):
                block.begin()
        assert read_flags() == found
        with block:
            assert torch.utils.deterministic.fill_uninitialized_memory
        assert read_flags() == found


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "42", True])
def test_a_bad_seed_is_refused_before_anything_is_touched(seed):
    """The error comes where the block is made, not where it is entered."""
    with pytest.raises(SeedError):
        its.deterministic(seed)


def test_a_getter_that_raises_hinders_nothing(monkeypatch):
    """A row that cannot be read is left alone, and the block works."""
    torn = Flag(name="torn", get=lambda: 1 / 0, why="", source="", set=lambda _: 1 / 0)
    monkeypatch.setattr("ipytorchseed.determinism.table.FLAGS", (torn, *FLAGS))
    with its.deterministic() as block:
        assert torch.are_deterministic_algorithms_enabled()
    assert block.stuck == []
