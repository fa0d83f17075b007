"""Finds nondeterministic calls of libraries: see ``determinism.library_calls``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ipytorchseed.determinism.library_calls import Call as Row
from ipytorchseed.determinism.library_calls import known_calls
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.written import UNKNOWN, Call, Variable
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Cleared, unless_others


def find_calls(evidence: Evidence) -> Iterator[Cleared]:
    """Find nondeterministic calls in the cell and in the functions that it calls.

    If there are other causes, they are cleared, unless experiments prove one.
    """
    if evidence.two_cells or not evidence.changed:
        return
    known = [row for row in known_calls().calls if not row.observed]
    rows = [row for row in known if evidence.uses(row.package)]
    runs = cells_used(evidence) if rows else []
    for row in rows:
        seeds = (action for run in runs for action in run.actions if row.setter in action)
        if row.setter and (evidence.run.seeds or any(seeds)):
            continue
        for name in row.names:
            call = next(_calls(evidence, row, name, runs), None)
            if call is None:
                continue
            yield unless_others(_cause(row, name, call), is_tested=True)


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
            if call.tail == tail and call.given is not None and row.varies(call.given):
                return _cause(row, name, call)
    return None


def _cause(row: Row, name: str, call: Call) -> Cause:
    title = f"{row.package}.{name}"
    called = call.name or title
    fix = f"{called}(..., {row.fix})" if row.fix.partition("=")[0].isidentifier() else row.fix
    return Cause(row.kind, title, f"`{called}()` {row.why}", fix=fix)


def cells_used(evidence: Evidence) -> list[Run]:
    """Return the run, and the runs that defined functions and classes that it uses."""
    reads = evidence.run.reads.items()
    functions = {name for name, value in reads if value.kind in ("function", "class")}
    makers = [run for run in evidence.latest if functions & run.writes.keys()]
    return [evidence.run, *makers]


def _calls(evidence: Evidence, row: Row, name: str, runs: Sequence[Run]) -> Iterator[Call]:
    """Yield the nondeterministic calls of a row, and those of cells that set inputs."""
    tail = name.rpartition(".")[2]
    found = [call for run in runs for call in evidence.states.written(run).calls]
    if name[0].isupper() and not row.on:  # an object that the cell uses
        for run in evidence.latest:
            made = evidence.run.reads.keys() & run.writes.keys() - run.in_place
            found += [call for call in evidence.states.written(run).calls if made & call.made]
    for call in (call for call in found if call.tail == tail):
        given = call.given
        if given is not None and _is_of(evidence, row, call):
            values = {name: _value(evidence, value) for name, value in given.items()}
            if row.varies(values):
                yield call


def _is_of(evidence: Evidence, row: Row, call: Call) -> bool:
    """Return whether a call is one of the row's library, as far as we know."""
    root = call.root
    runs = [evidence.run, *evidence.latest]
    package = next(
        filter(None, (evidence.states.written(run).imports.get(root) for run in runs)), ""
    )
    if package or root in sys.stdlib_module_names:
        return package == row.package
    value = evidence.run.reads.get(root) or evidence.run.writes.get(root)
    if not row.on or value is None:
        return value is None
    return not {*row.on}.isdisjoint(re.findall(r"\w+", value.summary))


def _value(evidence: Evidence, value: Any) -> Any:  # noqa: ANN401 -- any constant
    """Return the value of an argument.

    If it is a variable, the value is known only for integers and None.
    """
    if not isinstance(value, Variable):
        return value
    held = evidence.run.reads.get(value.name)
    if held is None:
        return UNKNOWN
    number = held.series[0] if held.series and len(held.series) == 1 else None
    is_integer = held.kind == "int" and number is not None
    return None if held.kind == "none" else int(number) if is_integer else UNKNOWN  # type: ignore[arg-type]
