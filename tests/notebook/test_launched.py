"""Files of processes that a notebook launches are shown in the notebook."""

from __future__ import annotations

import json
import socket

from ipytorchseed.ledger.store import Ledger

TRAIN = """
import accelerate, torch
import ipytorchseed as its
from torch import nn

def train():
    accelerator = accelerate.Accelerator(cpu=True)
    its.seed(42)
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 1))
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    its.ranks.watch(model, every=2)
    for step in range(1, 6):
        if step == 3 and accelerator.process_index == 1:
            torch.rand(1)
        optimizer.zero_grad()
        accelerator.backward(model(torch.ones(2, 4)).sum())
        optimizer.step()
    table = its.ranks.compare(model=model, expect={"python": "same"})
    if accelerator.process_index == 2:
        open("compared.txt", "w").write(str(table))
"""
LAUNCHERS = {
    "debug_launcher": "accelerate.debug_launcher(train, num_processes=3)",
    "notebook_launcher": "accelerate.notebook_launcher(train, num_processes=3, use_port='{port}')",
}


def test_what_a_launcher_forked_is_told_of_in_the_notebook(new_kernel, tmp_path):
    """The processes get no cell events and lose their values, but they write files."""
    assert new_kernel.run(TRAIN).status == "ok"
    refused = new_kernel.run("%rng --ranks")
    assert "no ranks to look at: no ipyparallel client" in refused.stderr
    for name, launch in LAUNCHERS.items():
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        assert new_kernel.run(launch.format(port=port)).status == "ok", name
        compared = tmp_path / "compared.txt"
        assert compared.read_text().startswith(
            "Rank 1 drew 1 more number from torch.cpu than ranks 0 and 2"
        )
        compared.unlink()
        told = json.loads(new_kernel.run("%rng --ranks --json").stdout)
        assert [each["rank"] for each in told["ranks"]] == [0, 1, 2], name
        assert told["headline"] == (
            "Step 3: rank 1 drew 1 more number from torch.cpu than the others: torch.rand, line 13"
            " of the cell."
        )


DIGITS = """
import lightning, torch
import ipytorchseed as its
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

digits = load_digits()
data = TensorDataset(torch.tensor(digits.data).float() / 16, torch.tensor(digits.target))

class Digits(lightning.LightningModule):
    def __init__(self, planted):
        super().__init__()
        self.planted = planted
        self.net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 10))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)

    def on_train_start(self):
        its.ranks.compare(model=self, optimizer=self.optimizers(), check=True)
        its.ranks.watch(self.trainer.model, every=2)

    def training_step(self, batch, number):
        if self.planted and number == 6 and self.global_rank == 1:
            torch.rand(1)
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def on_train_end(self):
        table = its.ranks.compare(model=self, expect={"torch.cpu": "same"})
        open(f"compared-{self.global_rank}.txt", "w").write(table.headline)

def fit(planted):
    its.seed(42)
    model = Digits(planted)
    before = model.net[0].weight.sum().item()
    trainer = lightning.Trainer(
        strategy="ddp_notebook", accelerator="cpu", devices=2, max_steps=8, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, DataLoader(data, batch_size=64, shuffle=True))
    return model.net[0].weight.sum().item() != before
""".strip()
PLANTED = "rank 1 drew 1 more number from torch.cpu than rank 0"


def test_ranks_that_lightning_forks_are_compared_and_watched(new_kernel, tmp_path):
    """With ``ddp_notebook``, a clean training has no findings.

    A draw of one rank is named. No other source changes.
    """
    for line in ("%load_ext ipytorchseed", DIGITS):
        assert new_kernel.run(line).status == "ok"
    line = DIGITS[: DIGITS.index("torch.rand")].count("\n") + 1
    said = {
        "False": (  # each fork has a different state of python
            "All 2 ranks differ only where they should, to step 8.",
            "All 2 ranks differ only where they should.",
        ),
        "True": (
            f"Step 7: {PLANTED}: torch.rand, line {line} of the cell.",
            f"{PLANTED[0].upper()}{PLANTED[1:]}.",
        ),
    }
    for planted, (watched, compared) in said.items():
        reply = new_kernel.run(f"fit({planted})")
        assert reply.shown == "True", reply.error
        told = json.loads(new_kernel.run("%rng --ranks --json").stdout)
        assert told["headline"] == watched
        assert [each["rank"] for each in told["ranks"]] == [0, 1]
        for rank in (0, 1):
            assert (tmp_path / f"compared-{rank}.txt").read_text() == compared
    assert new_kernel.run("%why --json").status == "ok"
    runs = new_kernel.runs()
    assert [run.source for run in runs if run.source.startswith("fit")] == [
        "fit(False)",
        "fit(True)",
    ]
    assert all(", rank " not in run.notebook for run in runs)
    with Ledger.open(new_kernel.ledger, read_only=True) as ledger:
        assert ledger.verify() == []
