"""Processes that a notebook launches: what they wrote is shown where they were launched."""

from __future__ import annotations

import json
import socket

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
    """They get no cell events, and their values are dropped: their files tell."""
    assert new_kernel.run(TRAIN).status == "ok"
    refused = new_kernel.run("%rng --ranks")
    assert "no ranks to look at: no ipyparallel client" in refused.stderr
    for name, launch in LAUNCHERS.items():
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        assert new_kernel.run(launch.format(port=port)).status == "ok", name
        compared = tmp_path / "compared.txt"
        assert compared.read_text().startswith("Rank 1 drew one number more than ranks 0 and 2")
        compared.unlink()
        told = json.loads(new_kernel.run("%rng --ranks --json").stdout)
        assert [each["rank"] for each in told["ranks"]] == [0, 1, 2], name
        assert told["headline"] == (
            "Step 3: rank 1 drew one number more than the others from torch.cpu: torch.rand, the"
            " cell line 13."
        )
