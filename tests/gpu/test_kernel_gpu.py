"""A kernel whose cells compute on a GPU.

What is said of them, and that they are not held up.
"""

from __future__ import annotations

import re

import pytest

from tests.kernel import Kernel

SETUP = "import torch\nfrom torch import nn"
DRAW = "x = torch.rand(1000, device='cuda').sum().item()\nprint(x)"
BUSY = "torch.cuda.current_stream().query()"
SCALED = """\
for _ in range(3):
    with torch.autocast('cuda'):
        loss = net(torch.ones(4, 8, device='cuda')).square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(loss.item())"""


@pytest.fixture
def kernel(tmp_path):
    """Its own kernel process, in which CUDA has not started."""
    with Kernel(tmp_path, cold=True) as made:
        for cell in ("%load_ext ipytorchseed", SETUP):
            assert made.run(cell).status == "ok"
        yield made


def test_where_a_gpu_began_is_known_and_put_back(kernel):
    """It started in the cell that is brought back, with a seed from the system."""
    first = kernel.run(DRAW).stdout
    assert kernel.run(DRAW).stdout != first
    said = kernel.run("%why").displays[0]["text/plain"]
    assert re.search(
        r"torch\.cuda:0 had moved on: In\[3\] (drew|took [\d,]+ numbers) from it", said
    )
    again = kernel.run("%replay 3")
    assert first in again.stdout
    assert "In[3]'s result again, bit for bit" in again.stdout + again.displays[-1]["text/plain"]


def test_the_way_back_of_training_is_not_promised(kernel):
    """Sums on a GPU may have another order each time, which no record shows."""
    kernel.run(
        "net = nn.Conv2d(3, 4, 3).cuda(); optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "x = torch.rand(4, 3, 9, 9, device='cuda')"
    )
    train = "net(x).square().sum().backward(); optimizer.step(); print(net.bias.sum().item())"
    kernel.run(train, "train")
    kernel.run(train, "train")
    said = kernel.run("%why").displays[0]["text/plain"]
    assert "changed `net`" in said
    assert "if possible" in said
    assert "on a GPU" in " ".join(said.split())


def test_a_cell_does_not_wait_for_what_it_gave_a_gpu_to_compute(kernel):
    """Seconds of work are under way, and are when the next cell begins."""
    kernel.run("a = torch.randn(8192, 8192, device='cuda'); torch.cuda.synchronize()")
    kernel.run("for _ in range(300): b = a @ a")
    assert kernel.value(BUSY) is False
    kernel.run("len([1])")
    assert kernel.value(BUSY) is False
    assert "b" not in kernel.run("torch.cuda.synchronize(); print(b.shape)").stderr


def test_a_cell_that_scales_gradients_repeats(kernel):
    """The scaler is copied as it is, also once it has begun."""
    kernel.run(
        "net = nn.Linear(8, 1).cuda()\noptimizer = torch.optim.AdamW(net.parameters())\n"
        "scaler = torch.amp.GradScaler('cuda')"
    )
    kernel.run(SCALED)
    said = kernel.run(f"%%deterministic 7 --check\n{SCALED}")
    assert "The cell repeats" in said.stdout + said.displays[-1]["text/plain"]


def test_after_an_error_on_the_gpu_all_is_said_in_a_line(kernel):
    """CUDA answers nothing any more in that process.

    Other cells run, and what we say is short.
    """
    kernel.run("nn.Embedding(3, 3).cuda()(torch.tensor([7], device='cuda')).sum().item()")
    assert kernel.run("1 + 1").shown == "2"
    assert "torch.cuda:0" in kernel.run("%seed").displays[-1]["text/plain"]
    for command in ("%seed 3", "%%deterministic --check\nprint(1)"):
        error = kernel.run(command).error
        assert error.ename == "UsageError"
        assert "\n" not in error.evalue
