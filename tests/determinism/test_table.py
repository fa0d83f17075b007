"""The table of flags is complete, explained, and readable with any user settings."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from hypothesis import given

from ipytorchseed.determinism.flag import ANY, Flag, Unreadable
from ipytorchseed.determinism.table import FLAGS, read_flags
from tests.determinism.settings import READINGS, all_told, change, lines, scratch, told

BY_NAME = {flag.name: flag for flag in FLAGS}

PROMISED = [
    "torch.use_deterministic_algorithms",
    "torch.use_deterministic_algorithms.warn_only",
    "torch._inductor.config.deterministic",
    "torch.utils.deterministic.fill_uninitialized_memory",
    "torch.backends.cudnn.enabled",
    "torch.backends.cudnn.benchmark",
    "torch.backends.cudnn.deterministic",
    "torch.backends.cudnn.allow_tf32",
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.fp32_precision",
    "torch.backends.cudnn.fp32_precision",
    "torch.backends.cudnn.conv.fp32_precision",
    "torch.backends.cudnn.rnn.fp32_precision",
    "torch.backends.cuda.matmul.fp32_precision",
    "torch.backends.mkldnn.fp32_precision",
    "torch.backends.mkldnn.matmul.fp32_precision",
    "torch.backends.mkldnn.conv.fp32_precision",
    "torch.backends.mkldnn.rnn.fp32_precision",
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_fp16_accumulation",
    "torch.float32_matmul_precision",
    "torch.backends.cuda.flash_sdp_enabled",
    "torch.backends.cuda.mem_efficient_sdp_enabled",
    "torch.backends.cuda.math_sdp_enabled",
    "torch.backends.cuda.cudnn_sdp_enabled",
    "torch.default_dtype",
    "torch.default_device",
    "torch.grad_enabled",
    "torch.autocast.cpu.enabled",
    "torch.autocast.cpu.dtype",
    "torch.autocast.cuda.enabled",
    "torch.autocast.cuda.dtype",
    "torch.num_threads",
    "torch.num_interop_threads",
    "torch.backends.mkldnn.deterministic",
    "torch._inductor.config.fallback_random",
    "torch._inductor.config.numerics",
    "torch._inductor.config.emulate_precision_casts",
    "torch._inductor.config.eager_numerics.division_rounding",
    "torch._inductor.config.eager_numerics.disable_ftz",
    "torch._inductor.config.eager_numerics.use_pytorch_libdevice",
    "torch._inductor.config.batch_invariant",
    "PYTHONHASHSEED",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_LAUNCH_BLOCKING",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "MKL_CBWR",
    "FLASH_ATTENTION_DETERMINISTIC",
]

TORN = {  # what torch refuses to tell once old and new names of float32 precision disagree
    "torch.float32_matmul_precision",
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.cudnn.allow_tf32",
}


# --------------------------------------------------------------------------------------------------
# Its rows


@pytest.mark.parametrize("name", PROMISED)
def test_what_is_promised_has_a_row(name):
    """Everything that a report must mention is in the table."""
    assert name in BY_NAME


def test_names_are_unique():
    """A flag is listed once."""
    assert len(BY_NAME) == len(FLAGS)


@pytest.mark.parametrize("flag", FLAGS, ids=BY_NAME)
def test_a_row_explains_itself(flag):
    """Each row has a reason in one or two short sentences, and a source for it."""
    assert flag.why.endswith(".")
    assert flag.why[0].isupper() or flag.why.startswith(("cuDNN", "oneDNN"))
    assert "  " not in flag.why
    assert flag.why.count(". ") <= 1
    assert flag.why.isascii()
    assert len(flag.why) <= 200
    assert flag.source.startswith("https://")
    assert flag.source.isascii()


@pytest.mark.parametrize("flag", [flag for flag in FLAGS if flag.risk], ids=lambda flag: flag.name)
def test_a_risk_reads_after_but_for(flag):
    """The risk without a flag is a clause for the middle of a sentence."""
    assert flag.risk[0].islower()
    assert not flag.risk.endswith(".")


def test_a_flag_that_can_be_wrong_says_what_may_happen(monkeypatch):
    """Each row that may have a wanted value on any machine has a risk."""
    from ipytorchseed.determinism.machine import Machine

    monkeypatch.setitem(sys.modules, "flash_attn", object())  # it has a wish only beside this
    big = Machine(torch=(2, 9), cuda=True, xpu=True, started=False)
    new = Machine(torch=(2, 13), cuda=True, xpu=True, started=True)
    wishing = [f for f in FLAGS if f.wanted(big) is not ANY or f.wanted(new) is not ANY]
    assert len(wishing) > 8
    assert [flag.name for flag in wishing if not flag.risk] == []


# --------------------------------------------------------------------------------------------------
# Reading


def test_every_row_but_two_is_read_as_a_user_reads_it():
    """The tests below compare with torch's own answers.

    These rows have no answer to compare.
    """
    own = {
        "PYTHONHASHSEED",  # the variable lies; test_hash_seed.py
        "torch.default_device",  # torch's getter starts CUDA; below
        "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",  # a pair; below
        "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    }
    assert BY_NAME.keys() - READINGS.keys() == own


# Flags that the installed torch does not have yet.
LATER = {name for name in READINGS if told(name) is AttributeError}


@given(changes=lines())
def test_a_flag_reads_as_torch_tells_it(changes):
    """The table has torch's value, or ``Unreadable`` if torch raises.

    The settings and their order do not matter.
    """
    with scratch():
        change(*changes)
        for name in READINGS:
            value, answer = BY_NAME[name].read(), told(name)
            if answer is RuntimeError:
                assert isinstance(value, Unreadable)
            elif answer is AttributeError:  # it came with a later torch
                assert isinstance(value, Unreadable) or value is False
            else:
                assert value == answer, name


@given(changes=lines())
def test_reading_never_raises_and_moves_nothing(changes):
    """Two reads agree, and torch answers the same before and after."""
    with scratch():
        change(*changes)
        before = all_told()
        first = read_flags()
        assert read_flags() == first
        assert all_told() == before
        unread = {name for name, value in first.items() if isinstance(value, Unreadable)}
        assert unread <= TORN | LATER


@pytest.mark.skipif(torch.__version__ < "2.9", reason="fp32_precision came with 2.9")
def test_what_torch_refuses_to_tell_carries_its_words():
    """An unreadable flag is shown with torch's reason, on one line."""
    with scratch():
        change("torch.backends.cuda.matmul.fp32_precision = 'tf32'")
        value = BY_NAME["torch.backends.cuda.matmul.allow_tf32"].read()
    assert isinstance(value, Unreadable)
    assert "mix of the legacy and new APIs" in value.reason
    assert "\n" not in value.reason


def test_an_error_without_words_is_told_by_its_type():
    """A getter that raises an empty error still gives a reason."""

    def get():
        raise KeyError

    assert Flag(name="x", get=get, why="", source="").read().reason == "KeyError"


def test_unreadable_values_are_equal():
    """A flag that is still unreadable is unchanged, even if torch's message differs."""
    assert Unreadable("one") == Unreadable("other")
    assert hash(Unreadable("one")) == hash(Unreadable("other"))
    assert Unreadable("one") != "one"


@pytest.mark.parametrize(
    ("set_to", "expected"),
    [(True, (True, True)), (False, (False, True)), ((False, False), (False, False))],
)
@pytest.mark.parametrize("kind", ["fp16", "bf16"])
@pytest.mark.skipif(torch.__version__ < "2.10", reason="the second half came with 2.10")
def test_reduced_precision_reduction_is_a_pair(kind, set_to, expected):
    """The flag has a second half, split-k, and both are read."""
    name = f"torch.backends.cuda.matmul.allow_{kind}_reduced_precision_reduction"
    with scratch():
        change(f"{name} = {set_to}")
        assert BY_NAME[name].read() == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("None", None),
        ("'meta'", torch.device("meta")),
        ("'cuda'", torch.device("cuda")),
        ("torch.device('cuda', 1)", torch.device("cuda", 1)),
    ],
)
def test_the_default_device_is_read_without_starting_it(monkeypatch, typed, expected):
    """Also with an open index, for which torch's own getter asks the device."""

    def start():
        pytest.fail("CUDA was started")

    monkeypatch.setattr(torch.cuda, "_lazy_init", start)
    with scratch():
        change(f"torch.set_default_device({typed})")
        assert BY_NAME["torch.default_device"].read() == expected


def test_reading_imports_nothing_and_starts_nothing():
    """A fresh process that reads every flag has torch, and neither inductor nor CUDA."""
    program = """
import sys, torch
known = set(sys.modules)
from ipytorchseed.determinism.table import read_flags
def start(): raise SystemExit("CUDA was started")
torch.cuda._lazy_init = start
torch.set_default_device("cuda")
values = read_flags()
assert values["torch._inductor.config.deterministic"] is False
print(sorted({name.partition(".")[0] for name in set(sys.modules) - known}))
print([name for name in sys.modules if name.startswith(("torch._inductor", "torch._dynamo"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    loaded, compiler = done.stdout.splitlines()
    assert "ipytorchseed" in loaded
    assert "numpy" not in loaded
    assert compiler == "[]"
