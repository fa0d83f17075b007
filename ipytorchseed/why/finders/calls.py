"""Finds nondeterministic calls of libraries, listed in ``library_calls.toml``.

A row is an entry of that table. If the row names a function that seeds, its package has a random
stream whose state cannot be read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ipytorchseed.determinism.library_calls import Call as Row
from ipytorchseed.determinism.library_calls import known_calls
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.written import UNKNOWN, Call, Variable
from ipytorchseed.why.evidence import Evidence, Texts
from ipytorchseed.why.explanation import Cause, Cleared, unless_others


def find_calls(evidence: Evidence) -> Iterator[Cleared]:
    """Find nondeterministic calls in the cell and in the functions that it calls.

    A call is a cause only if no other cause is found, or if an experiment proves it.
    """
    if not evidence.two_cells and evidence.changed:
        for cause in calls_of(evidence.states, evidence.run):
            yield unless_others(cause, is_tested=True)


def _seeds(run: Run, row: Row) -> bool:
    """Return whether a run seeds the stream of a row."""
    calls = row.package in run.packages and any(row.setter in action for action in run.actions)
    return bool(run.seeds) or calls


def calls_of(states: Texts, run: Run) -> Iterator[Cause]:
    """Yield a cause for each nondeterministic function that a run may call."""
    runs = cells_used(states, run)
    for row in known_calls().calls:
        seeded = row.setter and any(_seeds(each, row) for each in runs)
        for name in () if seeded or row.observed or row.package not in run.packages else row.names:
            call = next(_calls(states, run, row, name, runs), None)
            if call is not None:
                yield _cause(row, name, call)


def find_seeder(evidence: Evidence, asked: str) -> Cause | None:
    """Find the known call in a cell that explains why a library asked for entropy.

    Args:
        evidence: The evidence.
        asked: The function of the library that was observed to ask for entropy.
    """
    package, _, function = asked.rpartition(".")
    rows = [row for row in known_calls().calls if row.package == package.partition(".")[0]]
    rows.sort(key=lambda row: not row.observed)
    names = [(row, name, name.rpartition(".")[2]) for row in rows for name in row.names]
    names = [each for each in names if each[2] == function] or names
    runs = [evidence.run, *(run for run in evidence.latest if run.kernel == evidence.run.kernel)]
    for call in (call for run in runs for call in evidence.states.written(run).calls):
        for row, name, tail in names:
            if call.tail == tail and (call.given is None or row.varies(call.given)):
                return _cause(row, name, call)
    return None


def _cause(row: Row, name: str, call: Call) -> Cause:
    title = f"{row.package}.{name}"
    called = call.name or title
    is_argument = row.fix.partition("=")[0].isidentifier()
    fix = f"pass `{row.fix}` to `{called}()`" if is_argument else row.fix
    return Cause(row.kind, title, f"`{called}()` {row.why}", fix=fix)


def cells_used(states: Texts, run: Run) -> list[Run]:
    """Return a run and the runs that defined the functions and classes that it uses."""
    reads = run.reads.items()
    functions = {name for name, value in reads if value.kind in ("function", "class")}
    return [run, *(each for each in states.latest(run) if functions & each.writes.keys())]


def _calls(states: Texts, user: Run, row: Row, name: str, runs: Sequence[Run]) -> Iterator[Call]:
    """Yield the calls of a row's function that may give different results.

    Args:
        states: Looks up runs.
        user: The run whose result may change.
        row: The row.
        name: The function or class. If it is a class, cells that created the run's inputs are
            searched too.
        runs: The runs whose texts are searched.
    """
    tail = name.rpartition(".")[2]
    found = [call for run in runs for call in states.written(run).calls]
    if name[0].isupper() and not row.on:  # a class: the cell may use an object of it
        for run in states.latest(user):
            made = user.reads.keys() & run.writes.keys() - run.in_place
            found += [call for call in states.written(run).calls if made & call.made]
    for call in (call for call in found if call.tail == tail):
        given = call.given
        if given is not None and _is_of(states, user, row, call):
            values = {name: _value(user, value) for name, value in given.items()}
            if row.varies(values):
                yield call


def _is_of(states: Texts, user: Run, row: Row, call: Call) -> bool:
    """Return whether a call may reach a function of the package in a row."""
    root = call.root
    package = package_of(states, user, root)
    if package or root in sys.stdlib_module_names:
        return package == row.package
    value = user.reads.get(root) or user.writes.get(root)
    if not row.on or value is None:
        return value is None
    return not {*row.on}.isdisjoint(re.findall(r"\w+", value.summary))


def package_of(states: Texts, user: Run, name: str) -> str:
    """Return the package that a run's name was imported from; "" if unknown."""
    imports = (states.written(run).imports.get(name) for run in [user, *states.latest(user)])
    return next(filter(None, imports), "")


def _value(user: Run, value: Any) -> Any:  # noqa: ANN401 -- any constant
    """Return the value of an argument.

    The value of a variable is known only if it is an integer or None.
    """
    if not isinstance(value, Variable):
        return value
    held = user.reads.get(value.name)
    if held is None or held.kind not in ("int", "none"):
        return UNKNOWN
    return int(held.series[0]) if held.series else None
