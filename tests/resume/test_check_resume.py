"""``its.check_resume``: correct trainings pass, and anything missing is named."""

from __future__ import annotations

import json
import os
from functools import partial

import pytest
import torch
from torch import nn

import ipytorchseed as its
from ipytorchseed.errors import ResumeDiffers, ResumeError
from tests.conftest import everything
from tests.resume import trainings
from tests.resume.trainings import dice, model_outside, training, with_class
from tests.test_schemas import check as check_schema


def resume(train, steps=8, at=5):
    """Check a training function.

    Its JSON is what the schema says, and its text fits a terminal.
    """
    report = its.check_resume(train, steps, at)
    check_schema("resume", report.to_json())
    assert all(len(line) <= 80 for line in str(report).splitlines())
    assert report.ok == (not report.findings)
    return report


def named(report):
    """Return kind and name of what was found."""
    return {(each.kind, each.name) for each in report.findings}


@pytest.mark.parametrize(
    "train",
    [training(), trainings.registering, with_class(), partial(trainings.keyed, unused=1)],
    ids=["dictionary", "registered", "class", "partial"],
)
def test_a_right_training_passes(train):
    """In each style: nothing is found."""
    report = resume(train)
    assert named(report) == set()
    assert report.first is None
    assert "continues bit for bit" in str(report).replace("\n", " ")


FAULTS = {
    "model": ({("model", "model")}, "9 of 9 tensors differ, the first 0.weight"),
    "optimizer": ({("optimizer", "optimizer")}, "the checkpoint has it, but it was not restored"),
    "state": ({("optimizer", "optimizer")}, "it is not in the checkpoint"),
    "scheduler": ({("scheduler", "scheduler")}, "last_epoch 5 → 0"),
    "scaler": ({("scaler", "scaler")}, "scale 8.0 → 4.0"),
    "ema": ({("model", "ema")}, "10 of 10 tensors differ"),
    "buffers": ({("model", "model")}, "3 of 9 tensors differ, the first 1.running_mean"),
    "epoch": ({("loader", "loader")}, "step 5 gets the batch of step 2, not its own"),
    "skip": ({("loader", "loader")}, "skip the batches that were used"),
    "noise": ({("generator", "noise")}, "its.RandomState(noise=noise) restores it"),
    "random": ({("source", "torch.cpu"), ("generator", "noise")}, "was at seed 0 + "),
    "shuffle": (
        {("generator", "noise"), ("loader", "loader")},
        "step 5 gets the batch of step 2, not its own",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_lost_is_named_and_nothing_else(fault):
    """Each part of a usual training, planted alone."""
    wanted, words = FAULTS[fault]
    report = resume(training(fault))
    assert named(report) == wanted
    assert words in " ".join(str(report).split())
    assert {each.step for each in report.findings} == {5}


def test_the_first_step_and_parameter_that_differ_are_told():
    """A schedule that begins again acts at its next change.

    An average of weights acts on none.
    """
    assert resume(training("scheduler")).first.step == 6
    first = resume(training("optimizer")).first
    assert (first.step, first.parameter) == (5, "model.0.weight")
    assert resume(training("ema")).first is None


def test_two_at_once_are_both_named():
    """Faults do not hide each other."""
    assert named(resume(training("scheduler scaler epoch"))) == {
        ("scheduler", "scheduler"),
        ("scaler", "scaler"),
        ("loader", "loader"),
    }


def test_another_type_is_named():
    """A model made in float32 takes what is loaded from float64 without a word."""
    report = resume(training("dtype"))
    assert ("model", "model") in named(report)
    assert "0.weight float64 → float32" in " ".join(str(report).split())


def test_random_numbers_of_workers_are_named():
    """Workers that begin again in an epoch make other batches of the same items."""
    assert named(resume(trainings.with_workers, 3, 1)) == {("loader", "loader")}


def test_what_a_class_keeps_in_its_own_file_is_named_by_its_attribute():
    """Averages in a dictionary, sources: by the name by which the code reaches them."""
    assert named(resume(with_class("shadow"))) == {("state", "trainer.shadow")}
    assert named(resume(with_class("random"))) == {("source", "numpy"), ("source", "torch.cpu")}


def test_objects_outside_begin_each_run_where_they_stood():
    """A model and a generator of the notebook's own.

    No half sees what another left in them.
    """
    before = [each.clone() for each in model_outside.parameters()], dice.bit_generator.state
    report = resume(trainings.around)
    assert named(report) == {("generator", "dice")}
    after = [*model_outside.parameters()], dice.bit_generator.state
    assert all(map(torch.equal, before[0], after[0]))
    assert before[1] == after[1]


def test_whatever_is_outside_begins_each_run_where_it_stood():
    """Not only what has a state of torch.

    Here an iterator, and a list of what was seen.
    """
    calls, seen = iter(range(100)), []

    def train(state, steps):
        torch.manual_seed(0)
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        state["model"] = model
        for _ in range(steps):
            optimizer.zero_grad()
            seen.append(next(calls))
            model(torch.full((1, 1), float(len(seen)))).sum().backward()
            optimizer.step()

    report = resume(train, 4, 2)
    assert "does not repeat" not in str(report)
    assert (next(calls), seen) == (0, [])


def test_what_is_not_used_is_no_fault():
    """Sources that did not come back and are not drawn from are distinguished."""
    report = resume(trainings.around)
    assert {"python", "numpy", "torch.cpu"} <= {each.name for each in report.harmless}
    assert "without effect in these steps: python, numpy, torch.cpu" in str(report)


def test_a_rate_by_hand_is_told_once():
    """Of the optimizer.

    A group of its parameters that a loop still holds is no other thing.
    """

    def train(state, steps):
        its.seed(0)
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        state["model"] = model
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = 0.1 / (1 + step)
            optimizer.zero_grad()
            model(torch.ones(1, 1)).sum().backward()
            optimizer.step()

    report = resume(train, 4, 2)
    assert named(report) == {("optimizer", "optimizer")}
    assert "lr 0.03" in str(report)


def test_a_training_that_does_not_repeat_is_told_so():
    """Where two runs from one start differ, nothing can be said of resuming."""

    def train(state, steps):
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            model(torch.full((1, 1), float(int.from_bytes(os.urandom(3), "big")))).sum().backward()
            optimizer.step()

    report = resume(train, 4, 2)
    assert named(report) == {("train", "train")}
    assert "It is unknown" in str(report)
    assert "does not repeat" in str(report)


def test_a_number_of_steps_that_did_not_come_back_is_told():
    """A loop that always takes ten does not go on."""

    def train(state, steps):
        trainings.registering(state, 4)

    assert named(resume(train, 6, 3)) == {("steps", "train")}


def test_a_training_that_takes_all_its_steps_at_once_is_no_right_one():
    """It depends on no number of steps: nothing was resumed that could be right."""

    def train(state, steps):
        if not state:
            trainings.registering(state, 4)

    assert named(resume(train, 6, 3)) == {("steps", "train")}


def test_an_epoch_begun_anew_is_told_where_its_order_is_always_the_same():
    """The batch is that of the epoch's begin, not of an earlier epoch's."""

    def train(state, steps):
        its.seed(0)
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        state.update(model=model, optimizer=optimizer)
        loader = torch.utils.data.DataLoader(trainings.data(), trainings.BATCH)
        epochs = (batch for _ in range(steps) for batch in loader)
        for _, (x, y) in zip(range(steps), epochs, strict=False):
            optimizer.zero_grad()
            (model(x) - y).pow(2).mean().backward()
            optimizer.step()

    report = resume(train, 6, 5)
    # the loader draws the seed of its workers from torch.cpu, also where it has none
    assert named(report) == {("loader", "loader"), ("source", "torch.cpu")}
    assert "step 5 gets the batch of step 0, not its own" in str(report)


def test_a_loop_up_to_the_last_step_may_use_what_it_leaves():
    """Asked for too few steps it takes none, and fails.

    Asked for the last one it is right.
    """

    def train(state, steps):
        begin = state.get("step", 0)
        torch.manual_seed(0)
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        state["model"] = model
        for _ in range(begin, steps):
            loss = model(torch.ones(1, 1)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        state.update(step=steps, loss=loss.item())

    assert resume(train, 6, 3).ok


def test_check_raises_with_the_report_as_its_message():
    """For scripts and tests."""
    with pytest.raises(ResumeDiffers, match="scheduler: was not restored"):
        its.check_resume(training("scheduler"), 8, 5, check=True)
    assert its.check_resume(trainings.registering, 4, 2, check=True).ok


def test_everything_is_as_it_was_afterwards():
    """Sources, flags, environment, hooks of torch's and loaders.

    Also where training fails.
    """
    from torch.nn.modules import module
    from torch.optim import optimizer
    from torch.utils.data import dataloader

    def fail(state, steps):
        resumed = bool(state)
        torch.set_default_dtype(torch.float64)
        its.seed(5)
        torch.use_deterministic_algorithms(True)
        training()(state, steps)
        if resumed:
            raise ValueError("no\nmore")

    def patched():
        base = dataloader._BaseDataLoaderIter
        hooks = module._global_forward_pre_hooks, optimizer._global_optimizer_pre_hooks
        return [{**each} for each in hooks], {**vars(base)}

    before = everything(), patched()
    with pytest.raises(ResumeError, match=r"fails when it resumes: ValueError: no$"):
        its.check_resume(fail, 2, 1)
    assert (everything(), patched()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None,), "takes a function train(state, steps), not None"),
        ((training(), 5, 5), "0 < at < steps, not at=5, steps=5"),
        ((training(), 5, 0), "0 < at < steps, not at=0, steps=5"),
        ((training(), "5", 1), "0 < at < steps, not at=1, steps='5'"),
        ((lambda _, __: None, 2, 1), "took no step with a torch.optim optimizer"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(arguments, message):
    """What happened, and what to do."""
    with pytest.raises(ResumeError) as refused:
        its.check_resume(*arguments)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_report_is_readable_in_a_notebook_and_by_programs():
    """One record, drawn three times."""
    report = resume(training("skip"))
    assert "<li>▲ loader: step 5 gets the batch" in report._repr_html_()
    told = json.loads(report.to_json())
    assert told["findings"][0]["kind"] == "loader"
    assert told["first_difference"] == {"step": 5, "parameter": "model.0.weight"}
