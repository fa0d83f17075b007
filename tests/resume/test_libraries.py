"""``its.RandomState`` in the checkpoints of real libraries."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import ipytorchseed as its

pytestmark = [
    pytest.mark.usefixtures("put_back"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning"),
]


@pytest.fixture(autouse=True)
def imports_put_back():
    """Reset the warning filters and variables that these imports set."""
    filters, variables = [*warnings.filters], {**os.environ}
    yield
    warnings.filters[:] = filters
    os.environ.clear()
    os.environ.update(variables)


def test_accelerate_saves_and_loads_it(tmp_path, monkeypatch):
    """``register_for_checkpointing`` restores a generator unknown to accelerate."""
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    from accelerate import Accelerator

    rng = np.random.default_rng(3)
    accelerator = Accelerator(cpu=True)
    model = accelerator.prepare(nn.Linear(2, 1))
    accelerator.register_for_checkpointing(its.RandomState(rng=rng))
    accelerator.save_state(str(tmp_path))
    expected = rng.random(3), torch.rand(3), np.random.rand(3)
    accelerator.load_state(str(tmp_path))
    again = rng.random(3), torch.rand(3), np.random.rand(3)
    assert all(np.array_equal(one, other) for one, other in zip(expected, again, strict=True))
    assert model is not None
    accelerator.free_memory()


def test_lightning_keeps_it_by_a_callback(tmp_path):
    """A callback's ``state_dict``.

    Training that goes on from a checkpoint ends as without it.
    """
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))

        def training_step(self, batch, _):
            return self.layer(batch[0] + torch.from_numpy(rng.random(2)).float()).pow(2).mean()

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.1)

    class KeepRandom(lightning.Callback):
        def __init__(self):
            self.random_state = its.RandomState(rng=rng)

        def state_dict(self):
            return self.random_state.state_dict()

        def load_state_dict(self, state_dict):
            self.held = state_dict

        def on_train_start(self, *_):
            if hasattr(self, "held"):
                self.random_state.load_state_dict(self.held)

    def fit(epochs, path=None):
        trainer = lightning.Trainer(
            max_epochs=epochs,
            accelerator="cpu",
            callbacks=[KeepRandom()],
            default_root_dir=tmp_path,
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            logger=False,
        )
        torch.manual_seed(0)
        module = Module()
        # With its own generator: Lightning makes iterators, which draw, at other moments.
        loader = DataLoader(TensorDataset(data), batch_size=2, generator=torch.Generator())
        trainer.fit(module, loader, ckpt_path=path)
        return trainer, [each.detach().clone() for each in module.parameters()]

    data = torch.linspace(0, 1, 12).reshape(6, 2)
    rng = np.random.default_rng(1)
    whole = fit(4)[1]
    rng = np.random.default_rng(1)
    fit(2)[0].save_checkpoint(tmp_path / "half.ckpt")
    held = torch.load(tmp_path / "half.ckpt", weights_only=True)
    assert [{*kept} for kept in held["callbacks"].values()] == [{"format", "rank0"}]
    rng = np.random.default_rng(2)
    np.random.rand(5)
    resumed = fit(4, tmp_path / "half.ckpt")[1]
    assert all(map(torch.equal, whole, resumed))
