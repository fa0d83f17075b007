"""Strict mode: torch's error says where the operation is and what helps."""

from __future__ import annotations

import pytest
import torch

import ipytorchseed as its
from ipytorchseed.determinism.alerts import find_advice, innermost_in, note_alert, operation_in
from tests.determinism.conftest import FIRST

ALERT = "does not have a deterministic implementation, but you set 'torch.use_deterministic_..."


def _notes(run, **names):
    with pytest.raises(RuntimeError) as caught:
        run(**names)
    return getattr(caught.value, "__notes__", [])


# --------------------------------------------------------------------------------------------------
# The note


def test_the_note_names_operation_line_replacement_and_the_way_out(script):
    """The line is in the user's file, and the note says how to allow the operation."""
    run = script("""\
        x, index, ones = values()
        with its.deterministic():
            y = x + 1
            x.put_(index, ones)
    """)
    [note] = _notes(run)
    assert note.splitlines() == [
        f"put_ (line {FIRST + 3}) has no deterministic algorithm.",
        f"instead: {find_advice('put_')}",
        "or let it pass and list such operations: %%deterministic --warn",
    ]


@pytest.mark.filterwarnings("ignore:.*quantized tensor creation.*deprecated")
@pytest.mark.parametrize(
    ("call", "operation"),
    [
        ("x.put(index, ones)", "put_"),
        ("torch.nn.MaxUnpool1d(2)(*pool1)", "max_unpooling2d_forward_out"),
        ("torch.nn.functional.max_unpool2d(*pool2, 2)", "max_unpooling2d_forward_out"),
        ("torch.nn.MaxUnpool3d(2)(*pool3)", "max_unpooling3d_forward_out"),
        (
            "torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8).resize_(5)",
            "quantized_resize_cpu_",
        ),
    ],
)
def test_each_operation_that_torch_refuses_on_cpu_is_noted(script, call, operation):
    """Also with torch's own Python code between the user's line and the operation."""
    run = script(f"""\
        x, index, ones = values()
        pool1 = torch.nn.functional.max_pool1d(torch.ones(1, 1, 4), 2, return_indices=True)
        pool2 = torch.nn.functional.max_pool2d(torch.ones(1, 1, 4, 4), 2, return_indices=True)
        pool3 = torch.nn.functional.max_pool3d(torch.ones(1, 1, 4, 4, 4), 2, return_indices=True)
        with its.deterministic():
            {call}
    """)
    [note] = _notes(run)
    assert note.startswith(f"{operation} (line {FIRST + 5}) has no deterministic algorithm.")
    assert find_advice(operation) in note


BACKWARD = """\
class Put(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return torch.zeros_like(grad).put_(torch.tensor([0]), grad[:1])

def train():
    loss = Put.apply(torch.ones(3, requires_grad=True)).sum()
    loss.backward()

with its.deterministic():
    train()
"""


def test_in_a_backward_of_ones_own_the_line_is_the_innermost(script):
    """The operation is in the user's backward, and that line is named."""
    [note] = _notes(script(BACKWARD))
    assert note.startswith(f"put_ (line {FIRST + 7}) has no")


def test_a_backward_of_torchs_own_names_the_call(script):
    """The kernel's name says backward, so the line is its call."""
    run = script("""\
        def model(x):
            y = torch.nn.functional.interpolate(x, 8)
            return torch.nn.Upsample(2)(y)

        def train(fail):
            loss = model
            fail()

        def kernel():
            raise RuntimeError("upsample_bilinear2d_backward_out_cuda " + alert)

        with its.deterministic():
            train(kernel)
    """)
    [note] = _notes(run, alert=ALERT)
    said = (
        f"_cuda, in the backward pass called on line {FIRST + 9}, has no deterministic algorithm."
    )
    assert note.splitlines()[0] == f"upsample_bilinear2d_backward_out{said}"


def test_in_a_helper_of_another_file_the_line_is_the_callers(script):
    """What counts is the innermost line of the file in which the block stands."""
    helper = script(
        """\
        def spread(x, index, ones):
            return x.put_(index, ones)
        """,
        "helper.py",
    )()["spread"]
    run = script("""\
        with its.deterministic():
            def call():
                return helper(*values())

            call()
    """)
    [note] = _notes(run, helper=helper)
    assert note.startswith(f"put_ (line {FIRST + 2}) has no")


def test_an_alert_in_a_worker_is_noted_with_the_line_of_the_loop(script):
    """The error of a DataLoader's worker quotes torch's.

    Its operation is found in there.
    """
    run = script("""\
        class Data(torch.utils.data.Dataset):
            def __len__(self):
                return 2

            def __getitem__(self, n):
                x, index, ones = values()
                return x.put_(index, ones)

        with its.deterministic(isolate=True):
            for batch in torch.utils.data.DataLoader(Data(), num_workers=1):
                pass
    """)
    [note] = _notes(run)
    assert note.startswith(f"put_ (line {FIRST + 9}) has no")


# --------------------------------------------------------------------------------------------------
# When there is none, and when there is one already


@pytest.mark.parametrize("error", [RuntimeError("CUDA out of memory"), ValueError(f"put_ {ALERT}")])
def test_an_error_that_is_no_alert_is_left_as_it_is(error):
    """Other errors get no note, whatever their text."""
    with pytest.raises(type(error)) as caught, its.deterministic():
        raise error
    assert not hasattr(caught.value, "__notes__")


def test_an_error_is_noted_once(script):
    """The innermost block notes it; the blocks around it do not repeat that."""
    run = script("""\
        x, index, ones = values()
        with its.deterministic():
            with its.deterministic():
                x.put_(index, ones)
    """)
    assert len(_notes(run)) == 1


def test_notes_of_others_do_not_hinder():
    """A note that someone else added is kept, and ours is added to it."""
    error = RuntimeError(f"put_ {ALERT}")
    error.__notes__ = ["theirs"]
    note = note_alert(error, lambda _: None)
    assert error.__notes__ == ["theirs", note]
    assert note_alert(error, lambda _: None) is None


def test_an_alert_without_a_line_says_no_line():
    """Where no frame is the user's, the note does without."""
    note = note_alert(RuntimeError(f"put_ {ALERT}"), innermost_in("nowhere.py"))
    assert note.startswith("put_ has no deterministic algorithm.")


def test_an_error_caught_in_the_block_changes_nothing():
    """Code that tries an operation and falls back goes on; the block ends as usual."""
    with its.deterministic() as block:
        try:
            torch.zeros(3).put_(torch.tensor([0]), torch.ones(1))
        except RuntimeError:
            fell_back = True
    assert fell_back
    assert block.alerts == []


def test_a_block_used_from_two_files_names_the_lines_of_each(script):
    """One object serves many blocks, and each counts the lines of the file it is in."""
    shared = its.deterministic()
    body = "with shared:\n    torch.zeros(3).put(*values()[1:])\n"
    for name, indent in (("first.py", 0), ("second.py", 4)):
        run = script("\n" * indent + body, name)
        [note] = _notes(run, shared=shared)
        assert note.startswith(f"put_ (line {FIRST + indent + 1}) has no")


# --------------------------------------------------------------------------------------------------
# The operation in a message


WORKER = """\
Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "x.py", line 3, in __getitem__
    x.put_(index, ones)
"""

ATTENTION = (
    "attention defaults to a non-deterministic algorithm. To explicitly enable determinism call"
    " torch.use_deterministic_algorithms(True, warn_only=False)."
)

CUBLAS = (
    "Deterministic behavior was enabled with either `torch.use_deterministic_algorithms(True)` or"
    " `at::Context::setDeterministicAlgorithms(true)`, but this operation is not deterministic"
    " because it uses CuBLAS and you have CUDA >= 10.2."
)


@pytest.mark.parametrize(
    ("message", "operation"),
    [
        (f"put_ {ALERT}", "put_"),
        (f"median CUDA with indices output {ALERT}", "median CUDA with indices output"),
        (f"_histc_cuda with floating point input {ALERT}", "_histc_cuda with floating point input"),
        (f"kthvalue CUDA {ALERT}", "kthvalue CUDA"),
        (f"aten::put_ {ALERT}", "aten::put_"),
        (f"{WORKER}RuntimeError: put_ {ALERT}", "put_"),
        (f"Dynamo failed to run FX node: got RuntimeError('put_ {ALERT}')", "put_"),
        (
            f"flex_attention backward with block_mask and BACKEND='FLASH' {ALERT}",
            "flex_attention backward with block_mask and BACKEND='FLASH'",
        ),
        (f"Memory Efficient {ATTENTION}", "Memory Efficient attention"),
        (f"Flash {ATTENTION.replace('a', 'A', 1)}", "Flash Attention"),
        (CUBLAS, "cuBLAS"),
        ("CUDA out of memory", None),
        ("", None),
        ("this model does not have a deterministic plan", None),
    ],
)
def test_the_operation_is_found_in_any_form_of_the_message(message, operation):
    """Torch's own text, quoted by a worker or a compiler, and names of several words."""
    assert operation_in(message) == operation
