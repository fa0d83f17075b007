"""The same input gives the same bits.

This holds in one kernel, in another, and after other cells.
"""

from __future__ import annotations

import pytest

from tests.kernel import Kernel

TRAIN = """
%%deterministic 42
model = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Dropout(0.5),
    torch.nn.Linear(4 * 6 * 6, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
images = torch.rand(256, 1, 8, 8) + torch.from_numpy(np.random.rand(256, 1, 8, 8)).float()
labels = torch.tensor([random.randrange(10) for _ in images])
data = torch.utils.data.TensorDataset(images, labels)
curve = []
for x, y in torch.utils.data.DataLoader(data, batch_size=32, shuffle=True):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    curve.append(loss.item().hex())
curve
""".strip()

# With two threads the sums vary, unless deterministic algorithms are on.
ACCUMULATE = """
%%deterministic 42
sums = torch.zeros(100)
index = torch.randint(0, 100, (1_000_000,))
sums.index_put_((index,), torch.randn(1_000_000), accumulate=True)
[value.hex() for value in sums.tolist()]
""".strip()


@pytest.mark.parametrize("cell", [TRAIN, ACCUMULATE], ids=["training", "accumulation"])
def test_a_cell_repeats_in_one_kernel(kernel, cell):
    """Any number of draws may come before it, in any order."""
    first = kernel.run(cell)
    assert first.status == "ok"
    kernel.run("random.random(), np.random.rand(3), torch.randn(5)")
    assert kernel.run(cell).shown == first.shown
    kernel.run("%seed 1 -q")
    assert kernel.run(cell, "another cell").shown == first.shown


def test_a_cell_repeats_in_another_kernel_and_after_a_restart(kernel, tmp_path):
    """Earlier cells and the process do not matter."""
    expected = [kernel.run(cell).shown for cell in (TRAIN, ACCUMULATE)]
    with Kernel(tmp_path) as other:
        for _ in range(2):
            other.run(
                "import random\nimport numpy as np\nimport torch\ntorch.set_num_threads(2)\n%load_ext ipytorchseed"
            )
            assert [other.run(cell).shown for cell in (TRAIN, ACCUMULATE)] == expected
            other.restart()
            assert other.run("torch").error.ename == "NameError"


def test_another_seed_gives_other_numbers(kernel):
    """Otherwise the tests above would prove nothing."""
    assert kernel.run(TRAIN).shown != kernel.run(TRAIN.replace("42", "43")).shown
