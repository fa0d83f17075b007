"""Every operation is recorded with its line, module and pass, undisturbed."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from ipytorchseed.trace.aligning import Keys
from tests.trace.recorded import Seen, record, seen

pytestmark = pytest.mark.usefixtures("put_back")


class Deep(nn.Module):
    """A network of networks, as in notebooks."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU())])

    def forward(self, x):
        """Go through all."""
        for layer in self.layers:
            x = layer(x)
        return x


def _names(**given):
    return {"torch": torch, "nn": nn, **given}


def test_a_line_is_that_of_the_cell_however_deep_the_operation_lies():
    """It may be in a helper of another file, a function of the cell, a comprehension."""
    helper = {"torch": torch}
    exec(compile("def far(x):\n\n\n\n    return x.exp()", "<elsewhere>", "exec"), helper)  # noqa: S102 -- code in place of a cell
    source = "x = torch.ones(2)\ndef near(x):\n    return x.sin()\n\nnear(x)\n[far(x) for _ in 'a']"
    operations = seen(record(source, _names(far=helper["far"])))
    assert [(each.operation, each.line) for each in operations] == [
        ("ones", 1),
        ("sin", 3),
        ("exp", 6),
    ]


def test_a_backward_operation_has_the_line_and_the_module_of_its_forward():
    """The line that calls ``backward`` does not matter."""
    source = "x = torch.ones(2, 3)\ny = model(x)\nz = y.exp()\n\nz.sum().backward()"
    operations = seen(record(source, _names(model=Deep())))
    back = {each.operation: each for each in operations if each.backward}
    assert back["mul"] == Seen("mul", 3, "", True)
    assert back["threshold_backward"] == Seen("threshold_backward", 2, "model.layers.1.1", True)
    assert {each.module for each in operations if each.operation == "mm"} == {
        "model.layers.0",
        "model.layers.1.0",
    }


def test_a_backward_of_the_users_own_has_its_own_lines():
    """The code is in the cell: its line is named."""
    source = """\
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad.exp()
x = torch.ones(2, requires_grad=True)
Twice.apply(x).sum().backward()
"""
    operations = {each.operation: each for each in seen(record(source))}
    assert operations["mul"] == Seen("mul", 4, "", False)
    assert operations["exp"] == Seen("exp", 7, "", True)


def test_a_backward_pass_in_a_thread_of_torchs_own_is_seen():
    """No frame of Python's is below its operations: so it is with every one on a GPU.

    Here it is the passes within passes for which torch takes another thread, as it does from the
    61st on (``MAX_DEPTH`` in torch/csrc/autograd/engine.h).
    """
    source = """\
class Within(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        if ctx.depth:
            with torch.enable_grad():
                x = torch.ones(2, requires_grad=True)
                Within.apply(x, ctx.depth - 1).exp().sum().backward()
        return grad, None
x = torch.ones(2, requires_grad=True)
Within.apply(x, 70).sin().sum().backward()
z = x.cos()
"""
    recording = record(source)
    assert not recording.notes
    operations = seen(recording)
    exps = [each for each in operations if each.operation == "exp"]
    assert exps == [Seen("exp", 11, "", True)] * 70
    assert operations[-1] == Seen("cos", 15, "", False)


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_a_checkpoint_runs_again_belongs_to_the_backward_pass(reentrant):
    """It has the line of the code that runs again."""
    source = f"""\
from torch.utils.checkpoint import checkpoint
x = torch.ones(2, requires_grad=True)
def part(x):
    return x.sin().exp()
checkpoint(part, x, use_reentrant={reentrant}).sum().backward()
"""
    sines = [each for each in seen(record(source)) if each.operation == "sin"]
    assert [(each.line, each.backward) for each in sines] == [(4, False), (4, True)]


@pytest.mark.parametrize(
    ("name", "path"), [("model", "model"), ("model.layers[1]", "model.layers.1")]
)
def test_a_module_is_named_as_one_reaches_it(name, path):
    """The same name is used if only a part of the model is called."""
    source = f"part = {name}\nmodel.layers[0](torch.ones(3))\npart(torch.ones(1, 3))"
    operations = seen(record(source, _names(model=Deep())))
    modules = {each.module for each in operations if each.line == 3 and each.operation == "addmm"}
    assert modules
    assert all(each == path or each.startswith(f"{path}.") for each in modules)


def test_a_module_made_inside_a_function_goes_by_its_class():
    """No variable names it."""
    source = "def f():\n    return nn.Sequential(nn.ReLU())(torch.ones(2))\nf()"
    modules = {each.operation: each.module for each in seen(record(source, _names()))}
    assert modules["relu"] == "Sequential.0"


def test_threads_of_the_cell_are_seen_each_by_itself():
    """They are ordered by their start."""
    source = """\
import threading
def work(name):
    getattr(torch.ones(2), name)()
threads = [threading.Thread(target=work, args=(name,)) for name in ("sin", "cos")]
for thread in threads: thread.start()
for thread in threads: thread.join()
torch.ones(2).exp()
"""
    recording = record(source)
    found = [[each.operation for each in seen(recording, n)] for n in range(3)]
    assert found == [["ones", "exp"], ["ones", "sin"], ["ones", "cos"]]
    assert {each.line for each in seen(recording, 1)} == {3}


def test_a_thread_that_lives_on_holds_nothing_of_the_users():
    """Otherwise a tensor would be freed at process exit, which crashes the process."""
    gate, model = threading.Event(), Deep()
    thread = threading.Thread(target=gate.wait)
    gone = weakref.ref(model)
    record("thread.start()\nmodel(torch.ones(3))", _names(model=model, thread=thread))
    del model
    gc.collect()
    held = gone()
    gate.set()
    thread.join()
    assert held is None


def test_other_ways_of_torchs_are_seen():
    """autocast, inference mode, torch.func."""
    source = """\
with torch.autocast("cpu", dtype=torch.bfloat16):
    torch.ones(2, 2) @ torch.ones(2, 2)
with torch.inference_mode():
    torch.ones(2).sin()
torch.func.vmap(torch.func.grad(lambda x: x.cos()))(torch.ones(3))
"""
    operations = {(each.operation, each.line) for each in seen(record(source))}
    assert {("_to_copy", 2), ("mm", 2), ("sin", 4), ("cos", 5)} <= operations


def test_results_and_sources_are_those_without_a_recorder():
    """They are equal bit by bit."""
    source = (
        "torch.manual_seed(0)\ny = model(torch.rand(4, 3)).sum()\ny.backward()\nz = torch.rand(2)"
    )
    model = Deep()
    plain, traced = _names(model=model), _names(model=model)
    state = torch.get_rng_state()
    exec(source, plain)  # noqa: S102 -- code in place of a cell
    grads = [each.grad.clone() for each in model.parameters()]
    model.zero_grad()
    record(source, traced, count=True)
    torch.set_rng_state(state)
    assert torch.equal(plain["z"], traced["z"])
    assert torch.equal(plain["y"], traced["y"])
    assert all(map(torch.equal, grads, (each.grad for each in model.parameters())))


def test_an_error_of_the_users_comes_through_and_all_is_taken_away():
    """Modes, hooks of modules, and the observation of threads are removed."""
    from torch.nn.modules import module

    before = (
        [*_get_current_dispatch_mode_stack()],
        len(module._global_forward_hooks),
        threading.Thread.start,
    )
    with pytest.raises(RuntimeError, match="must match"):
        record("torch.ones(2) + torch.ones(3)")
    with pytest.raises(ZeroDivisionError):
        record("1 / 0")
    after = (
        [*_get_current_dispatch_mode_stack()],
        len(module._global_forward_hooks),
        threading.Thread.start,
    )
    assert before == after


def test_a_module_that_raises_is_left_behind():
    """After an error that the cell catches, later operations are not in that module."""
    source = "try:\n    model(torch.ones(5))\nexcept RuntimeError:\n    pass\ntorch.ones(2).sin()"
    last = seen(record(source, _names(model=Deep())))[-1]
    assert last == Seen("sin", 5, "", False)


def test_an_error_of_ours_ends_the_recording_not_the_cell(monkeypatch):
    """It is reported in a note."""
    from ipytorchseed.trace import places

    def fail(*_):
        raise KeyError("gone")

    monkeypatch.setattr(places.Lines, "find", fail)
    names = {"torch": torch}
    recording = record("x = torch.ones(2) + 1", names)
    assert torch.equal(names["x"], torch.full((2,), 2.0))
    assert recording.notes == ["recording stopped after 0 operations: KeyError: 'gone'"]


class Wrapper(torch.Tensor):
    """A tensor without own memory, like those of other libraries."""

    @staticmethod
    def __new__(cls, inner):
        """Wrap a tensor."""
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        """Work on what is wrapped."""
        plain = [each.inner if isinstance(each, Wrapper) else each for each in args]
        return cls(func(*plain, **(kwargs or {})))


def test_views_are_left_out_and_what_cannot_be_seen_is_told():
    """A view computes nothing.

    A tensor of another library may have any content.
    """
    source = "x = torch.rand(4)\ny = x.view(2, 2)\nz = torch.add(wrapped, 1)\nu = x + 1"
    recorder = record(source, {"torch": torch, "wrapped": Wrapper(torch.ones(2))})
    assert [each.line for each in seen(recorder)] == [1, 3, 4]
    assert [*Keys(recorder.trace.load()).seen] == [True, False, True]


def test_a_worker_process_made_by_fork_records_nothing():
    """A DataLoader's worker inherits the mode; it stays quiet, and its data arrive."""
    source = """\
from torch.utils.data import DataLoader
loader = DataLoader(list(range(8)), batch_size=4, num_workers=1)
got = [batch.tolist() for batch in loader]
"""
    names = {"torch": torch}
    state = torch.get_rng_state()
    recording = record(source, names)
    torch.set_rng_state(state)
    assert names["got"] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert recording.notes == []


class _Outer(TorchDispatchMode):
    """Records operations that reach torch after the recorder."""

    def __init__(self):
        super().__init__()
        self.came = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Record its name."""
        lengths = {str(each.dtype) for each in args[:1] if func.name() == "aten::clamp_min"}
        self.came += [func.name(), *lengths]
        return func(*args, **(kwargs or {}))


def test_lengths_of_ctc_come_as_numbers_as_where_nobody_watches():
    """An algorithm of torch on a GPU rejects tensors on the CPU.

    The recorder would make the cell fail.
    """

    def given():
        torch.manual_seed(0)
        lengths = torch.full((4,), 20), torch.full((4,), 5)
        return torch.randn(20, 4, 9, requires_grad=True), torch.randint(1, 9, (4, 5)), *lengths

    def loss(x, *rest):
        torch.nn.functional.ctc_loss(x.log_softmax(2), *rest).backward()
        rest[2].clamp_min(3)
        return x.grad

    expected = loss(*given())
    with _Outer() as outer:
        names = _names(given=given, loss=loss)
        operations = seen(record("found = loss(*given())", names))
    assert torch.equal(names["found"], expected)
    assert {"aten::_ctc_loss", "aten::_ctc_loss_backward"} < set(outer.came)
    assert not any(name.startswith("aten::_ctc_loss") and "." in name for name in outer.came)
    assert [name for name in outer.came if name.startswith("torch.")] == [
        "torch.float32",
        "torch.int64",
    ]
    assert {"_ctc_loss", "_ctc_loss_backward"} < {each.operation for each in operations}
