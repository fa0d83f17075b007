"""Results that a GPU still computes at the end of a cell are reported as not seen."""

from __future__ import annotations

import pytest

SETUP = """\
import threading
import torch
from ipytorchseed.fingerprint import elements

elements.DEVICES = frozenset({"cpu"})  # treated as an asynchronous device
done = threading.Event()
done.set()
torch.cpu.synchronize = lambda device=None: done.wait()
x = torch.ones(3)
"""
COMPUTE = "y = x.sum() + 1\ndone.clear()"
DONE = "done.set()"


def flat(reply):
    """Return a command's output on one line."""
    return " ".join(reply.displays[-1]["text/plain"].split())


@pytest.fixture
def kernel(new_kernel):
    """A kernel with a device that is still busy after a cell."""
    assert new_kernel.run(SETUP).status == "ok"
    return new_kernel


def test_a_result_that_is_not_there_yet_is_not_called_the_same(kernel):
    """It is named, with the reason and what to do."""
    for cell in (COMPUTE, DONE, COMPUTE, DONE):
        kernel.run(cell)
    said = flat(kernel.run("%why 5"))
    assert "In[5]: no difference from In[3] was seen, but y and x were not read in full" in said
    assert "torch.cuda.synchronize()" in said
    assert "too large" not in said


def test_who_changed_it_is_found_once_it_is_there(kernel):
    """The cell with the pending result is identified by what the next one read."""
    for cell in (COMPUTE, DONE, "print(y)", "x = x + 1", COMPUTE, DONE, "print(y)"):
        kernel.run(cell)
    said = flat(kernel.run("%why"))
    assert "In[7] made `y` again: 4 → 7" in said


def test_it_is_read_whole_as_soon_as_it_is_there(kernel):
    """Having been pending does not make it a large value."""
    for cell in (COMPUTE, DONE, "y", "y"):
        kernel.run(cell)
    runs = kernel.runs()
    assert runs[1].writes["y"].kind == "pending"
    assert runs[-1].reads["y"].exact
    assert flat(kernel.run("%why")).startswith("In[6]: same result, bit for bit, as In[5]")


TRAINING = {
    "make": "torch.manual_seed(0)\nnet = torch.nn.Linear(3, 3)\n"
    "optimizer = torch.optim.SGD(net.parameters(), 0.1)",
    "show": "print(net(x).sum().item())",
    "train": "for _ in range(3):\n    optimizer.zero_grad()\n    net(x).sum().backward()\n"
    "    optimizer.step()\ndone.clear()",
}


def test_the_cell_that_trained_is_blamed_and_can_be_replayed(kernel):
    """The next cell, which read the result, is not blamed."""
    replies = [kernel.run(TRAINING[name]) for name in ("make", "show", "train")]
    kernel.run(DONE)
    trained = kernel.run(TRAINING["show"])
    assert trained.stdout != replies[1].stdout
    why = flat(kernel.run("%why"))
    assert "In[5] changed `net`: 2 of 2 parameters" in why
    kernel.run("net = torch.nn.Linear(3, 3)")
    kernel.run(DONE)
    again = kernel.run("%replay 7")
    assert trained.stdout in again.stdout
    said = " ".join((again.stdout + again.displays[-1]["text/plain"]).split())
    # In[2] made the event, which cells set and cleared since.
    assert "In[7]'s result again, bit for bit. Run again before it: In[2], In[3], In[5]." in said
