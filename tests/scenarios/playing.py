"""Plays scenarios in real kernels, and asks ``%why``."""

from __future__ import annotations

import importlib.util
import json
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.kernel import Kernel
from tests.scenarios.recording import Recording, record, with_findings
from tests.scenarios.scenario import Scenario, is_named, judge

# How many kernels run at the same time. They mostly wait, and small machines have two cores.
AT_ONCE = 3


@dataclass(frozen=True)
class Outcome:
    """The result of playing a scenario.

    Attributes:
        changed: Whether the last two results differ, by the probe.
        answer: What ``%why --json`` printed; None in a dry run.
        problems: What is wrong with the answer; empty if it is right.
        recording: The recording of the kernels, if requested.
        seconds: How long ``%why`` took, experiments included.
    """

    changed: bool
    answer: dict[str, Any] | None
    problems: tuple[str, ...]
    recording: Recording | None = None
    seconds: float | None = None


def missing_packages(scenario: Scenario) -> list[str]:
    """Return the packages that a scenario needs but that are not installed."""
    return [name for name in scenario.needs if importlib.util.find_spec(name) is None]


def play(
    scenario: Scenario, *, dry: bool = False, prove: bool = False, keep: bool = False
) -> Outcome:
    """Play a scenario in new kernels, and compare the answer of ``%why`` with the truth.

    Args:
        scenario: The scenario.
        dry: Whether to play without tracking, and only check whether the result changes.
        prove: Whether to prove the causes by experiment, instead of playing the way back.
        keep: Whether to return the recording too.
    """
    counts: dict[int, int | None] = {}
    results: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {"JPY_SESSION_NAME": str(Path(folder, "scenario.ipynb"))}
        start = partial(_start, folder, environment, cold=scenario.cold, dry=dry)
        kernel = start()
        try:
            for step in scenario.steps:
                if step == "!restart":
                    kernel.stop()
                    kernel = start()
                elif step.startswith("!env:"):
                    name, _, value = step.removeprefix("!env:").partition("=")
                    environment[name] = value
                else:
                    cell = step.partition("@")[0]
                    reply = kernel.run(scenario.cells[step], cell)
                    counts[len(counts) + 1] = reply.execution_count
                    if cell == scenario.ask:
                        asked = reply.execution_count
                        try:
                            results.append(kernel.value(f"repr({scenario.probe})"))
                        except AssertionError as error:
                            return Outcome(False, None, (f"the probe fails: {error}",))
            changed = len(results) > 1 and results[-1] != results[-2]
            problems = [] if changed is scenario.changed else [_truth(changed, results)]
            if dry:
                return Outcome(changed, None, tuple(problems))
            if prove:
                answer, found = _proved(kernel, scenario, f"%why {asked} --json --prove --yes")
                return Outcome(changed, answer, (*problems, *found))
            records = record(kernel, scenario, counts) if keep else None
            began = time.perf_counter()
            answer, failed = _asked(kernel, f"%why {asked} --json")
            seconds = time.perf_counter() - began
            if answer is None:
                return Outcome(changed, None, (*problems, failed))
            recording = records and with_findings(kernel, records)
            problems += _replayed(kernel, scenario, answer, results)
        finally:
            kernel.stop()
    problems += judge(scenario, answer, counts)
    return Outcome(changed, answer, tuple(problems), recording, seconds)


def _asked(kernel: Kernel, command: str) -> tuple[dict[str, Any] | None, str]:
    """Return the answer to a command and "", or None and the reason."""
    reply = kernel.run(command, "ask-why")
    answer = next(map(json.loads, _objects(reply.stdout)), None)
    failed = reply.error
    said = f"{failed.ename}: {failed.evalue}" if failed else reply.stdout + reply.stderr
    return answer, "" if answer else f"{command} gave no answer: {said}"


def _proved(
    kernel: Kernel, scenario: Scenario, command: str
) -> tuple[dict[str, Any] | None, list[str]]:
    """Prove causes by experiment; return the answer and its problems.

    No true cause may be cleared, no other cause may be proved, and the kernel must be unchanged.
    """
    look = "__import__('tests.scenarios.state', fromlist=['x']).look(globals())"
    kernel.run(command.replace("--prove --yes", ""), "ask-first")  # imports what any answer needs
    before = kernel.value(look)
    reply, runs = kernel.record(command, "ask-why")
    after = kernel.value(look)
    answer = next(map(json.loads, _objects(reply.stdout)), None)
    if answer is None:
        said = f"{reply.error.ename}: {reply.error.evalue}" if reply.error else reply.stdout
        return None, [f"no answer: {said}"]
    problems = [
        f"not as before: {name}: {before.get(name)} → {after.get(name)}"
        for name in {*before, *(name for name in after if name.startswith(("name", "variable")))}
        if before.get(name) != after.get(name)  # reading states may load a library
    ]
    problems += [f"recorded: {run.source}" for run in runs if run.source != command]
    problems += [
        f"shown: {shown}" for shown in [*reply.displays, *reply.results, reply.stderr] if shown
    ]
    names = [name for wanted in scenario.wanted for name in wanted.names]
    for cause in answer["causes"]:
        allowed = any(is_named(cause, *name) for name in [*names, *scenario.allowed])
        if not allowed and cause["proof"] == "proved":
            problems.append(f"{cause['kind']} {cause['name']} is proved")
    problems += [
        f"{each['kind']} {each['name']} is cleared: {each['message']}"
        for each in answer["cleared"]
        if each["message"].startswith("no effect") and any(is_named(each, *name) for name in names)
    ]
    return answer, problems


def _objects(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith("{")]


def _replayed(
    kernel: Kernel, scenario: Scenario, answer: dict[str, Any], results: list[str]
) -> list[str]:
    """Run the commands for the way back; return what is wrong with their result.

    If the answer does not promise that the way back works, the commands may fail, but they must not
    claim success falsely.
    """
    mend = answer["mend"]
    if scenario.complete and not mend["complete"]:
        return [f"no way back is promised: {mend['obstacle']}"]
    for command in mend["commands"]:
        reply = kernel.run(command, "replay")
        if reply.error is not None and "add --yes" in reply.error.evalue:
            reply = kernel.run(f"{command} --yes", "replay")
        said = " ".join(shown["text/plain"] for shown in reply.displays)
        if reply.error is not None or "✓" not in said:
            failed = reply.error.evalue if reply.error else said
            return [f"{command} does not bring it back: {failed}"] if mend["complete"] else []
        result = kernel.value(f"repr({scenario.probe})")
        if result != results[-2]:
            return [f"{command} says that it is back: {result}, not {results[-2]}"]
    return []


def _start(folder: str, environment: dict[str, str], *, cold: bool, dry: bool) -> Kernel:
    """Start a kernel and load the extension before the user's cells."""
    kernel = Kernel(Path(folder), cold=cold, **environment)
    kernel.start()
    for line in ("%load_ext ipytorchseed", f"%config IPyTorchSeed.tracking = {not dry}"):
        reply = kernel.run(line, "load", store_history=False)
        assert reply.error is None, reply.error
    return kernel


def _truth(changed: bool, results: list[str]) -> str:
    what = "changed" if changed else "did not change"
    return f"the scenario is wrong, its result {what}: {' → '.join(results[-2:])}"
