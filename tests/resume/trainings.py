"""Tiny training functions: correct ones in several styles, and one for each fault.

``train(fault)`` returns a training function whose checkpoint lacks what ``fault`` names; without
one it is correct. Every part changes a little at each step, so that each loss shows.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

import ipytorchseed as its

ROWS, BATCH = 12, 4
EPOCH = ROWS // BATCH  # steps


def data():
    """Return rows and targets that depend on no source."""
    x = torch.linspace(-1, 1, ROWS * 3).reshape(ROWS, 3)
    return TensorDataset(x, x.sum(1, keepdim=True).sin())


def net():
    """Return a model with parameters, buffers and dropout."""
    return nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 1))


def training(fault=""):  # noqa: C901, PLR0915 -- as long as they are
    """Return the usual training function.

    All parts, and a dictionary that is saved.
    """

    def train(state, steps):  # noqa: C901, PLR0912, PLR0915
        its.seed(0)
        model = net() if state and fault == "dtype" else net().double()
        began = {name: value.clone() for name, value in model.named_buffers()}
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=4)
        ema = torch.optim.swa_utils.AveragedModel(model)
        noise = torch.Generator().manual_seed(1)
        sampler = DistributedSampler(data(), num_replicas=1, rank=0, seed=3)
        loader = DataLoader(data(), batch_size=BATCH, sampler=sampler)
        if fault == "shuffle":
            loader = DataLoader(data(), BATCH, shuffle=True, generator=noise)
        parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
        parts |= {"scaler": scaler, "ema": ema}
        done = 0
        random_state = its.RandomState(
            **({} if fault in ("noise", "shuffle") else {"noise": noise})
        )
        if state:
            for name, part in parts.items():
                if name not in fault.split():
                    part.load_state_dict(state[name])
            done = state["done"]
        epoch, used = divmod(done, EPOCH)
        if "epoch" in fault:
            epoch = 0
        batches = iter(())
        taken = 0
        while taken < steps:
            sampler.set_epoch(epoch)
            batches = iter(loader)
            if fault != "skip":
                for _ in range(used):
                    next(batches)
            if state and taken == 0 and fault != "random":
                random_state.load_state_dict(state["random"])
            for rows, targets in batches:
                if taken == steps:
                    break
                noisy = rows + 0.01 * torch.randn(rows.shape, generator=noise)
                x, y = (each.to(model[0].weight.dtype) for each in (noisy, targets))
                optimizer.zero_grad()
                out = model(x)
                loss = (out - y).pow(2).mean()
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                scheduler.step()
                ema.update_parameters(model)
                taken += 1
            epoch, used = epoch + 1, 0
        saved = {name: part.state_dict() for name, part in parts.items()}
        if fault == "state":
            saved["optimizer"]["state"] = {}
        if fault == "buffers":
            saved["model"] = saved["model"] | began
        state.update(saved, done=done + steps, random=random_state.state_dict())

    return train


def registering(state, steps):
    """Register parts, which are loaded at once.

    The order of the data is drawn from torch.cpu.
    """
    its.seed(0)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 50)
    x, y = data().tensors
    state.update(model=model, optimizer=optimizer, scheduler=scheduler, random=its.RandomState())
    for _ in range(steps):
        rows = torch.randint(0, ROWS, (BATCH,))
        optimizer.zero_grad()
        (model(x[rows]) - y[rows]).abs().mean().backward()
        optimizer.step()
        scheduler.step()


def keyed(state, steps, unused):
    """Take what is given by keyword, as by functools.partial."""
    registering(state, steps)


class Trainer:
    """A class of the user's own, with its own file and a loop up to a last step."""

    def __init__(self, forget=()):
        self.model = net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.shadow = {name: p.detach().clone() for name, p in self.model.named_parameters()}
        self.step, self.forget = 0, forget

    def save(self, path):
        """Write all but what it forgets."""
        held = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        held |= {"shadow": self.shadow, "step": self.step, "random": its.RandomState().state_dict()}
        torch.save({k: v for k, v in held.items() if k not in self.forget}, path)

    def load(self, path):
        """Put back what was written."""
        held = torch.load(path, weights_only=True)
        self.model.load_state_dict(held["model"])
        self.optimizer.load_state_dict(held["optimizer"])
        self.shadow, self.step = held.get("shadow", self.shadow), held["step"]
        if "random" in held:
            its.RandomState().load_state_dict(held["random"])

    def fit(self, last):
        """Train up to a last step."""
        x, y = data().tensors
        while self.step < last:
            rows = torch.from_numpy(np.random.randint(0, ROWS, BATCH))
            loss = (self.model(x[rows]) - y[rows]).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for name, p in self.model.named_parameters():
                self.shadow[name] = 0.9 * self.shadow[name] + 0.1 * p.detach()
            self.step += 1


def with_class(*forget):
    """Return a training function by a class that saves only parts of the state."""

    def train(state, steps):
        its.seed(1)
        trainer = Trainer(forget)
        path = state.folder / "last.pt"
        if state:
            trainer.load(path)
        trainer.fit(steps)
        trainer.save(path)
        state["path"] = str(path)

    return train


class Noisy(Dataset):
    """Draws noise as it gives a row: from numpy, in whichever process it runs."""

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        x, y = data()[index]
        return x + 0.1 * np.random.randn(3).astype("float32"), y


def with_workers(state, steps):
    """Resume in an epoch.

    The workers begin again, and draw what they drew at its begin.
    """
    its.seed(0)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state.update(model=model, optimizer=optimizer)
    done = state.get("done", 0)
    rows = range(done * BATCH, ROWS)
    batches = iter(DataLoader(Noisy(), BATCH, sampler=rows, num_workers=1))
    state["random"] = its.RandomState()
    for _ in range(steps):
        x, y = next(batches)
        optimizer.zero_grad()
        (model(x) - y).pow(2).mean().backward()
        optimizer.step()
    state["done"] = done + steps


model_outside = nn.Linear(3, 1)
dice = np.random.default_rng(8)


def around(state, steps):
    """Use a model, and a generator, of the notebook's; keep the model alone."""
    optimizer = torch.optim.SGD(model_outside.parameters(), lr=0.1)
    if state:
        model_outside.load_state_dict(state["model"])
    for _ in range(steps):
        optimizer.zero_grad()
        x = torch.from_numpy(dice.random((4, 3))).float()
        model_outside(x).pow(2).mean().backward()
        optimizer.step()
    state["model"] = {k: v.clone() for k, v in model_outside.state_dict().items()}
