"""Finds nondeterministic calls of libraries, listed in ``library_calls.toml``.

A row is an entry of that table. If the row names a function that seeds, its package has a random
stream whose state cannot be read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from ipytorchseed.determinism.library_calls import Call as Row
from ipytorchseed.determinism.library_calls import known_calls
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.written import UNKNOWN, Call, Variable
from ipytorchseed.why.edits import say_edit
from ipytorchseed.why.evidence import Evidence, Texts, differ
from ipytorchseed.why.explanation import Blame, Cause, Cleared, unless_others
from ipytorchseed.why.words import first_of

# The maximum number of runs or values that a message names.
_TOLD = 3


def find_calls(evidence: Evidence) -> Iterator[Cause | Cleared]:
    """Find nondeterministic calls in the cell and in the functions that it calls.

    A stream that cannot be read is a cause if other cells seeded or drew from it. Any other call is
    a cause only if no other cause is found, or if an experiment proves it.
    """
    if evidence.two_cells or not evidence.changed:
        return
    for row in known_calls().calls:
        if evidence.uses(row.package):
            stream = _find_stream(evidence, row) if row.setter else None
            if stream is not None:
                yield stream
            else:
                for cause in causes_of(evidence.states, evidence.run, row):
                    yield unless_others(cause, is_tested=True)


def _find_stream(evidence: Evidence, row: Row) -> Cause | None:
    """Return the cause for a row's stream that other runs moved, if any.

    There is no cause unless both compared runs draw from the stream.
    """
    draws, chains = list[Cause | None](), list[list[Run]]()
    for run in evidence.both:
        draws.append(next(causes_of(evidence.states, run, row), None))
        chains.append(seeding_runs(evidence.states, run, row))
    if None in draws or not any(chains) or evidence.elsewhere:
        return None
    (then, now), title, against = chains, title_of(row.package), evidence.name(evidence.against)
    blame = now[:1] or then[:1]
    message = f"{evidence.name(blame[0])} seeded {title}"
    if not then:
        message += f"; no recorded cell had done so before {against}"
    elif not now:
        message += "; since the restart, no recorded cell did"
    elif how := _say_seeding(evidence.states, then[0], now[0]):
        message += how
    else:
        codes = zip(*([run.code for run in chain] for chain in chains), strict=False)
        start = len([*takewhile(lambda pair: pair[0] == pair[1], codes)])
        blame = now[start:] or then[start:]
        if not blame:
            return None
        reader = "this cell" if now[start:] else f"{against}, and not since"
        who = first_of([*dict.fromkeys(map(evidence.name, blame))], _TOLD)
        message = f"{who} drew from the random stream of {title} between the seed and {reader}"
    blamed = tuple(Blame(run, "moved it") for run in blame)
    keep = draws[1].fix if draws[1] else ""
    return Cause("rng", row.package, message, keep=keep, blame=blamed, prevents=not then)


def _say_seeding(states: Texts, before: Run, after: Run) -> str:
    """Return the end of a sentence: how two seeding runs differ; or ""."""
    if before.code != after.code:
        return f", and was edited: {say_edit(before.source, after.source)[0]}"
    names = before.reads.keys() & after.reads.keys() & states.written(after).names
    values = {name: (before.reads[name], after.reads[name]) for name in sorted(names)}
    moved = [f"`{n}` {a.summary} → {b.summary}" for n, (a, b) in values.items() if differ(a, b)]
    return f" with other values: {first_of(moved, _TOLD)}" if moved else ""


def title_of(package: str) -> str:
    """Return the name of a package as people write it: ``OpenCV`` for ``cv2``."""
    return known_calls().native.get(package, package)


def seeding_runs(states: Texts, run: Run, row: Row) -> list[Run]:
    """Return the last run that seeded a stream, and the runs that drew from it since.

    Args:
        states: Looks up runs.
        run: Only runs before this one in its kernel are returned.
        row: The row of the stream.

    Returns:
        Oldest first; empty if no run seeded the stream.
    """
    found = list[Run]()
    for each in states.latest(run):
        if each.kernel != run.kernel or (each.id or 0) >= (run.id or 0):
            continue
        if _seeds(each, row):
            return [each, *found[::-1]]
        if row.package in each.packages and any(causes_of(states, each, row)):
            found.append(each)
    return []


def _seeds(run: Run, row: Row) -> bool:
    """Return whether a run seeds the stream of a row."""
    calls = row.package in run.packages and any(row.setter in action for action in run.actions)
    return bool(run.seeds) or calls


def causes_of(states: Texts, run: Run, row: Row) -> Iterator[Cause]:
    """Yield a cause for each function of a row that a run calls, even indirectly."""
    runs = cells_used(states, run)
    if row.observed or (row.setter and any(_seeds(each, row) for each in runs)):
        return
    for name in row.names:
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
    fix = f"{called}(..., {row.fix})" if row.fix.partition("=")[0].isidentifier() else row.fix
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
    """Return whether a call may call a function of the row's package."""
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
