"""Finds calls of other cells that may have set something in a library."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain

from ipytorchseed.determinism.libraries import BY_NAME
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.written import Call
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause


def find_effects(evidence: Evidence) -> Iterator[Cause]:
    """Find the last call between the runs that is made for its effect on a library.

    It counts if the cell uses that library, and only if there is no other cause. Such a call is
    recognized by its text: what it returns is not used. Libraries whose settings are recorded
    are left out.
    """
    between = [run for run in evidence.here if run.cell != evidence.run.cell]
    for run in between[::-1]:
        for call in evidence.states.written(run).calls:
            package = _package(evidence, call)
            if not (call.is_statement and package) or _shows(run, call):
                continue
            if evidence.uses(package) and package not in sys.stdlib_module_names | _known():
                message = (
                    f"{evidence.name(run)} called `{call.name}()` of {package}, and this cell"
                    f" also uses {package}; no recorded input changed"
                )
                name = f"{package}.{call.name.removeprefix(f'{package}.')}"
                yield Cause("flag", name, message, blame=(Blame(run, "called it"),), prevents=True)
                return


def _known() -> set[str]:
    """Return the packages whose settings are recorded."""
    rows = BY_NAME.values()
    return {each.partition(".")[0] for row in rows for each in (row.package, *row.through)}


def _package(evidence: Evidence, call: Call) -> str:
    """Return the package that a call's name was imported from; empty if unknown."""
    runs = chain([evidence.run], evidence.latest)
    imports = (evidence.states.written(run).imports.get(call.root) for run in runs)
    return next(filter(None, imports), "")


def _shows(run: Run, call: Call) -> bool:
    """Return whether a cell may show what a call returns."""
    return call.is_last and run.outputs.result is not None
