"""Scenarios: small notebooks whose true cause of change is known.

A scenario is a file in ``cases``: a docstring, then cells.

    '''One line that says what happens.

    run: setup train train       cells in the order in which they run
    ask: train                   `%why` is asked about the last run of this cell
    probe: loss                  an expression; its repr shows whether the result really changed
    changed: yes                 whether the probe differs between the last two runs of that cell
    expect: rng torch.cpu 2      a cause that must be named: kind, name, and the steps of `run`
                                 to blame, counted from 1; `rng g or rng ds.g 2` accepts either
    first: input model           the cause that must be named first
    allow: input model           a cause that may be named too; the name * matches any
    says: lr 0.01 → 0.03         text of the message of a cause, or of the answer if there is none
    root: In[5] was edited       text of the message of a root, one line for each root
    innocent: rng numpy          a suspect that is no cause: the answer clears it and says why, or
                                 lists it as a possible cause, after all true causes
    verdict: explained           only if it does not follow from the lines above
    back: complete               a way back to the earlier result must be promised
    needs: ipytorchseed          a package that must be installed
    kernel: cold                 kernels are started without forking: for cases about
                                 hashes, addresses or the loading of libraries
    '''
    # %% setup
    ...
    # %% train
    ...
    # %% train@2                 another text of the same cell; `run` calls it by this name

In ``run``, ``!restart`` restarts the kernel of the notebook, and ``!env NAME=VALUE`` sets a variable
for kernels that start later. A name matches the name of a cause if it is the same, or its beginning
up to a dot or a bracket. For files, flags, entropy and operations, any part of the name matches.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xxhash import xxh3_64_hexdigest

from tests.scenarios.families import chains, two_causes

CASES = Path(__file__).parent / "cases"

_CELL = re.compile(r"^# %% (\S+)[ \t]*\n", re.MULTILINE)
_FIELD = re.compile(
    r"^(run|ask|probe|changed|expect|first|says|allow|root|innocent|verdict|back|needs|kernel):[ \t]*(.*?)[ \t]*$"
)
_ANY_PART = frozenset({"file", "flag", "environment", "entropy", "operation"})


@dataclass(frozen=True)
class Wanted:
    """A cause that must be named.

    Attributes:
        names: Pairs of kind and name. Any of these pairs is accepted.
        blame: The steps to blame, counted from 1.
    """

    names: tuple[tuple[str, str], ...]
    blame: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " or ".join(" ".join(name) for name in self.names)

    def among(self, causes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the causes that match."""
        return [cause for cause in causes if any(is_named(cause, *name) for name in self.names)]


@dataclass(frozen=True)
class Scenario:
    """A notebook, the steps to play, and the truth about it.

    Attributes:
        name: The name of its file.
        title: One line that says what happens.
        cells: The texts of cells, by name. An edited text of a cell has the name ``name@2``.
        steps: The names of texts to run, and commands such as ``!restart``, in order.
        ask: The cell that ``%why`` is asked about.
        probe: An expression whose ``repr`` is the result.
        changed: Whether the last two results differ.
        wanted: Causes that must be named.
        first: Kind and name of the cause that must be named first; empty for any.
        says: Texts that the messages of causes must contain.
        roots: Texts that the messages of the roots must contain, one for each root in order; empty
            for any roots.
        allowed: Kind and name of causes that may be named too.
        innocent: Kind and name of suspects that are no causes.
        verdict: The right verdict.
        complete: Whether a way back must be promised.
        needs: Packages that must be installed.
        cold: Whether kernels are started without forking.
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
    roots: tuple[str, ...]
    allowed: tuple[tuple[str, str], ...]
    innocent: tuple[tuple[str, str], ...]
    verdict: str
    complete: bool
    needs: tuple[str, ...]
    cold: bool

    @property
    def digest(self) -> str:
        """A digest of everything that affects the recording: steps, cells and probe."""
        played = (self.steps, self.ask, self.probe, self.cold, sorted(self.cells.items()))
        return xxh3_64_hexdigest(repr(played).encode())


def read_all() -> list[Scenario]:
    """Return all scenarios, from files and built from parts."""
    files = [read(path) for path in sorted(CASES.glob("*.py"))]
    return [*files, *(parse(*each) for family in (two_causes, chains) for each in family())]


def read(path: Path) -> Scenario:
    """Return the scenario in a file.

    Raises:
        ValueError: The file is not a scenario. The message says why.
    """
    return parse(path.stem, path.read_text(encoding="utf-8"))


def parse(name: str, content: str) -> Scenario:
    """Return the scenario in a text.

    Args:
        name: The name of the scenario.
        content: The text.

    Raises:
        ValueError: The text is not a scenario. The message says why.
    """
    head, *parts = _CELL.split(content)
    cells = {cell: text.strip("\n") for cell, text in zip(parts[::2], parts[1::2], strict=True)}
    lines = (ast.get_docstring(ast.parse(head)) or "").splitlines()
    fields: dict[str, list[str]] = {}
    for line in lines[2:]:
        field = _FIELD.match(line)
        if field is None:
            msg = f"{name}: {line!r} is not a header line"
            raise ValueError(msg)
        fields.setdefault(field[1], []).append(field[2])
    steps = tuple(re.sub(r"!env\s+", "!env:", fields["run"][0]).split())
    wanted = tuple(map(_wanted, fields.get("expect", [])))
    changed = {"yes": True, "no": False}[fields["changed"][0]]
    usual = "same" if not changed else "explained" if wanted else "unexplained"
    unknown = [step for step in steps if not step.startswith("!") and step not in cells]
    if unknown or fields["ask"][0] not in cells or not set(cells) <= {*steps}:
        msg = f"{name}: the cells are {', '.join(cells)}, the steps {', '.join(steps)}"
        raise ValueError(msg)
    return Scenario(
        name=name,
        title=lines[0],
        cells=cells,
        steps=steps,
        ask=fields["ask"][0],
        probe=fields["probe"][0],
        changed=changed,
        wanted=wanted,
        first=_pairs(fields.get("first", [])),
        says=tuple(fields.get("says", [])),
        roots=tuple(fields.get("root", [])),
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
# What is wrong with an answer


def judge(scenario: Scenario, answer: dict[str, Any], counts: dict[int, int | None]) -> list[str]:
    """Return the problems of an answer, each as a phrase.

    Problems are missing or false causes, runs that are not blamed, missing words, and suspects that
    are not cleared.

    Args:
        scenario: The scenario that was played.
        answer: The JSON of ``%why --json``.
        counts: The number in ``In[...]`` of each step. Steps are counted from 1.
    """
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
    if scenario.first and causes and not is_named(causes[0], *scenario.first[0]):
        problems.append(f"named first: {causes[0]['kind']} {causes[0]['name']}")
    said = [cause["message"] for cause in causes] or [answer["message"]]
    said += [" → ".join((each["message"], *each["path"])) for each in answer["roots"]]
    for words in scenario.says:
        if not any(words in each for each in said):
            problems.append(f"not said: {words}")
    roots = [each["message"] for each in answer["roots"]]
    fit = [*map(str.__contains__, roots, scenario.roots)]
    if scenario.roots and not (all(fit) and len(roots) == len(scenario.roots)):
        problems.append(f"the roots are: {'; '.join(roots)}")
    granted = [*(name for wanted in scenario.wanted for name in wanted.names), *scenario.allowed]
    problems += [
        f"not cleared: {kind} {name}"
        for kind, name in scenario.innocent
        if not any(is_named(each, kind, name) and each["message"] for each in answer["cleared"])
        and not any(is_named(each, kind, name) for each in noise(scenario, answer))
    ]
    problems += [
        f"falsely named: {cause['kind']} {cause['name']}: {cause['message']}"
        for cause in causes
        if not any(is_named(cause, *name) for name in granted)
        and cause not in noise(scenario, answer)
    ]
    return problems


def noise(scenario: Scenario, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the false causes that are not proved and come after all true causes.

    A false cause before a true one is a mistake, not noise.
    """
    granted = [*(name for wanted in scenario.wanted for name in wanted.names), *scenario.allowed]
    causes = answer["causes"]
    true = [any(is_named(cause, *name) for name in granted) for cause in causes]
    last = max((place for place, is_true in enumerate(true) if is_true), default=-1)
    return [cause for cause in causes[last + 1 :] if cause["proof"] != "proved"]


def is_named(cause: dict[str, Any], kind: str, name: str) -> bool:
    """Return whether a cause matches a kind and name, by the rules for scenarios."""
    if cause["kind"] != kind:
        return False
    said = cause["name"]
    if name in {"*", said} or said.startswith((f"{name}.", f"{name}[")):
        return True
    return kind in _ANY_PART and name in said
