"""Plays small notebooks whose true cause of change is known, and asks ``%why``.

A scenario is a file of ``cases``: a docstring, then cells.

    '''One line that says what happens.

    run: setup train train       cells in the order in which they run
    ask: train                   the cell whose last run is asked about
    probe: loss                  an expression whose repr shows whether the result really changed
    changed: yes                 what the probe shows of the last two runs of that cell
    expect: rng torch.cpu 2      a cause that must be named: kind, name, and the steps of `run`
                                 to blame, counted from 1; `rng g or rng ds.g 2`: either will do
    first: input model           the cause that must be told before all others
    allow: input model           a cause that may be named besides; a name of * is any
    says: lr 0.01 → 0.03         words of the message of a cause, or of the answer where there is none
    innocent: rng numpy          a suspect that had no part in it, to say what the case is about
    verdict: explained           where it does not follow from the lines above
    back: complete               a way back to the earlier result has to be promised
    needs: ipytorchseed          a package without which it cannot be played
    kernel: cold                 each kernel is started from nothing, not forked: hashes, addresses
                                 or the loading of libraries are what the case is about
    '''
    # %% setup
    ...
    # %% train
    ...
    # %% train@2                 another text of the same cell, which `run` calls by this name

Under ``run``, ``!restart`` restarts the kernel in the same notebook, and ``!env NAME=VALUE`` sets a
variable for the kernels that start later. A name matches that of a cause if it is the same, or the
beginning of it up to a dot or a bracket; of files, flags, functions asked and operations, any part
of the name will do.

    python -m tests.scenarios.runner [--dry] [--only WORD] [FILE...]

``--dry`` plays without tracking, and only checks that results change as the file says.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.kernel import Kernel
from tests.scenarios.families import chains, two_causes

CASES = Path(__file__).parent / "cases"

AT_ONCE = 3
"""Kernels at the same time: they mostly wait for imports, and small machines have two cores."""

_CELL = re.compile(r"^# %% (\S+)[ \t]*\n", re.MULTILINE)
_FIELD = re.compile(
    r"^(run|ask|probe|changed|expect|first|says|allow|innocent|verdict|back|needs|kernel):[ \t]*(.*?)[ \t]*$"
)
_ANY_PART = frozenset({"file", "flag", "environment", "entropy", "operation"})


@dataclass(frozen=True)
class Wanted:
    """A cause that must be named.

    Attributes:
        names: Kind and name of it; each is right.
        blame: The steps that brought it about, counted from 1.
    """

    names: tuple[tuple[str, str], ...]
    blame: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " or ".join(" ".join(name) for name in self.names)

    def among(self, causes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return those of ``causes`` that this one names."""
        return [cause for cause in causes if any(_is(cause, *name) for name in self.names)]


@dataclass(frozen=True)
class Scenario:
    """A notebook, what is done with it, and what is true of it.

    Attributes:
        name: The file's.
        title: What happens.
        cells: Text by name of the cell, and by ``name@2`` for another text of it.
        steps: What is done, in order.
        ask: The cell that is asked about.
        probe: An expression whose ``repr`` is the result.
        changed: Whether the last two results differ.
        wanted: Causes to be named.
        first: Kind and name of the cause that must be told first; empty for any.
        says: Words that the messages of causes must have.
        allowed: Kind and name of causes that may be named besides.
        innocent: Kind and name of suspects that had no part in it.
        verdict: The right verdict.
        complete: Whether a way back has to be promised, not only kept where it is.
        needs: Packages to be there.
        cold: Whether its kernels are started from nothing.
    """

    name: str
    title: str
    cells: dict[str, str]
    steps: tuple[str, ...]
    ask: str
    probe: str
    changed: bool
    wanted: tuple[Wanted, ...]
    first: tuple[tuple[str, str], ...]
    says: tuple[str, ...]
    allowed: tuple[tuple[str, str], ...]
    innocent: tuple[tuple[str, str], ...]
    verdict: str
    complete: bool
    needs: tuple[str, ...]
    cold: bool


@dataclass(frozen=True)
class Outcome:
    """What came of playing a scenario.

    Attributes:
        changed: Whether the last two results differ, by the probe.
        answer: What ``%why --json`` printed; None in a dry run.
        counts: The number in ``In[...]`` by step, from 1.
        problems: Why it is not right; empty where it is.
    """

    changed: bool
    answer: dict[str, Any] | None
    counts: dict[int, int | None]
    problems: tuple[str, ...]


# --------------------------------------------------------------------------------------------------
# Reading


def read_all() -> list[Scenario]:
    """Read the scenarios of the files, and those that are put together from parts."""
    files = [read(path) for path in sorted(CASES.glob("*.py"))]
    return [*files, *(parse(*each) for family in (two_causes, chains) for each in family())]


def read(path: Path) -> Scenario:
    """Read a scenario from a file.

    Raises:
        ValueError: The file is not one; the message says what is wrong.
    """
    return parse(path.stem, path.read_text(encoding="utf-8"))


def parse(stem: str, content: str) -> Scenario:
    """Read a scenario.

    Args:
        stem: Its name.
        content: Its text.

    Raises:
        ValueError: It is none; the message says what is wrong.
    """
    head, *parts = _CELL.split(content)
    cells = {name: text.strip("\n") for name, text in zip(parts[::2], parts[1::2], strict=True)}
    lines = (ast.get_docstring(ast.parse(head)) or "").splitlines()
    fields: dict[str, list[str]] = {}
    for line in lines[2:]:
        field = _FIELD.match(line)
        if field is None:
            msg = f"{stem}: {line!r} is no line of a header"
            raise ValueError(msg)
        fields.setdefault(field[1], []).append(field[2])
    steps = tuple(re.sub(r"!env\s+", "!env:", fields["run"][0]).split())
    wanted = tuple(map(_wanted, fields.get("expect", [])))
    changed = {"yes": True, "no": False}[fields["changed"][0]]
    usual = "same" if not changed else "explained" if wanted else "unexplained"
    unknown = [step for step in steps if not step.startswith("!") and step not in cells]
    if unknown or fields["ask"][0] not in cells or not set(cells) <= {*steps}:
        msg = f"{stem}: the cells are {', '.join(cells)}, the steps {', '.join(steps)}"
        raise ValueError(msg)
    return Scenario(
        name=stem,
        title=lines[0],
        cells=cells,
        steps=steps,
        ask=fields["ask"][0],
        probe=fields["probe"][0],
        changed=changed,
        wanted=wanted,
        first=_pairs(fields.get("first", [])),
        says=tuple(fields.get("says", [])),
        allowed=_pairs(fields.get("allow", [])),
        innocent=_pairs(fields.get("innocent", [])),
        verdict=fields.get("verdict", [usual])[0],
        complete=fields.get("back", ["any"])[0] == "complete",
        needs=tuple(" ".join(fields.get("needs", [])).split()),
        cold=fields.get("kernel", ["warm"])[0] == "cold",
    )


def _pairs(lines: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple((kind, name) for kind, name in map(str.split, lines))


def _wanted(line: str) -> Wanted:
    choices = [choice.split() for choice in line.split(" or ")]
    blame = tuple(map(int, choices[-1][2:]))
    return Wanted(tuple((kind, name) for kind, name, *_ in choices), blame)


# --------------------------------------------------------------------------------------------------
# Playing


def play(scenario: Scenario, *, dry: bool = False, prove: bool = False) -> Outcome:
    """Play a scenario in kernels of its own, and hold what is said against what is true.

    Args:
        scenario: What to play.
        dry: Without tracking; only the result is looked at.
        prove: Have the causes proved by experiment, instead of playing the way back.
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
                            return Outcome(False, None, counts, (f"the probe fails: {error}",))
            changed = len(results) > 1 and results[-1] != results[-2]
            problems = [] if changed is scenario.changed else [_truth(changed, results)]
            if dry:
                return Outcome(changed, None, counts, tuple(problems))
            if prove:
                answer, found = _proved(kernel, scenario, f"%why {asked} --json --prove --yes")
                return Outcome(changed, answer, counts, (*problems, *found))
            reply = kernel.run(f"%why {asked} --json", "ask-why")
            answer = next(map(json.loads, _objects(reply.stdout)), None)
            if answer is not None:
                problems += _replayed(kernel, scenario, answer, results)
        finally:
            kernel.stop()
    if answer is None:
        failed = reply.error
        said = f"{failed.ename}: {failed.evalue}" if failed else reply.stdout + reply.stderr
        return Outcome(changed, None, counts, (*problems, f"%why gave no answer: {said}"))
    return Outcome(changed, answer, counts, (*problems, *_judge(scenario, answer, counts)))


def _proved(
    kernel: Kernel, scenario: Scenario, command: str
) -> tuple[dict[str, Any] | None, list[str]]:
    """Have causes proved; say what is wrong with that.

    No true cause is cleared, nothing else is proved, and everything is as before.
    """
    look = "__import__('tests.scenarios.state', fromlist=['x']).look(globals())"
    kernel.run(command.replace("--prove --yes", ""), "ask-first")  # imports what any answer takes
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
        if before.get(name) != after.get(name)  # a library may be loaded, which we ask of states
    ]
    problems += [f"recorded: {run.source}" for run in runs if run.source != command]
    problems += [
        f"shown: {shown}" for shown in [*reply.displays, *reply.results, reply.stderr] if shown
    ]
    names = [name for wanted in scenario.wanted for name in wanted.names]
    for cause in answer["causes"]:
        named = any(_is(cause, *name) for name in names)
        allowed = named or any(_is(cause, *name) for name in scenario.allowed)
        if (named and cause["proof"].startswith("cleared")) or (
            not allowed and cause["proof"] == "proved"
        ):
            problems.append(f"{cause['kind']} {cause['name']} is {cause['proof']}")
    return answer, problems


def _objects(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith("{")]


def _replayed(
    kernel: Kernel, scenario: Scenario, answer: dict[str, Any], results: list[str]
) -> list[str]:
    """Play what is said to bring the earlier result back, and compare.

    Where it is only said to do so in part, it may fail; what it says came of it has to be true.
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
    """Start a kernel with the extension, before any cell of the user's runs."""
    kernel = Kernel(Path(folder), cold=cold, **environment)
    kernel.start()
    for line in ("%load_ext ipytorchseed", f"%config IPyTorchSeed.tracking = {not dry}"):
        reply = kernel.run(line, "load", store_history=False)
        assert reply.error is None, reply.error
    return kernel


# --------------------------------------------------------------------------------------------------
# Judging


def _judge(scenario: Scenario, answer: dict[str, Any], counts: dict[int, int | None]) -> list[str]:
    """Say what is wrong with an answer: all that was to be named, nothing else, the blame."""
    causes = answer["causes"]
    problems = []
    if answer["verdict"] != scenario.verdict:
        problems.append(f"the verdict is {answer['verdict']}, not {scenario.verdict}")
    for wanted in scenario.wanted:
        named = wanted.among(causes)
        if not named:
            problems.append(f"not named: {wanted}")
            continue
        blamed = {each["execution_count"] for cause in named for each in cause["blame"]}
        problems += [
            f"{wanted}: step {step}, In[{counts[step]}], is not blamed"
            for step in wanted.blame
            if counts[step] not in blamed
        ]
    if scenario.first and causes and not _is(causes[0], *scenario.first[0]):
        problems.append(f"told first: {causes[0]['kind']} {causes[0]['name']}")
    said = [cause["message"] for cause in causes] or [answer["message"]]
    for words in scenario.says:
        if not any(words in each for each in said):
            problems.append(f"not said: {words}")
    granted = [*(name for wanted in scenario.wanted for name in wanted.names), *scenario.allowed]
    return problems + [
        f"falsely named: {cause['kind']} {cause['name']}: {cause['message']}"
        for cause in causes
        if not any(_is(cause, *name) for name in granted)
    ]


def _is(cause: dict[str, Any], kind: str, name: str) -> bool:
    """Tell whether a cause is of this kind and name."""
    if cause["kind"] != kind:
        return False
    said = cause["name"]
    if name in {"*", said} or said.startswith((f"{name}.", f"{name}[")):
        return True
    return kind in _ANY_PART and name in said


def _truth(changed: bool, results: list[str]) -> str:
    what = "changed" if changed else "did not change"
    return f"the scenario is wrong, its result {what}: {' → '.join(results[-2:])}"


# --------------------------------------------------------------------------------------------------
# By hand


def main() -> int:
    """Play scenarios, several at once, and print which are right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="all where none is named")
    parser.add_argument("--dry", action="store_true", help="check the scenarios, not %%why")
    parser.add_argument("--prove", action="store_true", help="have the causes proved")
    parser.add_argument("--say", action="store_true", help="print what %%why said")
    parser.add_argument("--only", default="", help="those whose names have this")
    options = parser.parse_args()
    scenarios = [read(path) for path in options.files] or read_all()
    scenarios = [each for each in scenarios if options.only in each.name]
    right = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = pool.map(partial(play, dry=options.dry, prove=options.prove), scenarios)
        for scenario, outcome in zip(scenarios, outcomes, strict=True):
            right += not outcome.problems
            told = [f"{'MISS' if outcome.problems else 'ok  '} {scenario.name}", *outcome.problems]
            if options.say and outcome.answer is not None:
                told.append(json.dumps(outcome.answer, indent=1, ensure_ascii=False))
            sys.stdout.write("\n     ".join(told) + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"{right} of {len(scenarios)} right\n")
    return 0 if right == len(scenarios) else 1


if __name__ == "__main__":
    sys.exit(main())
