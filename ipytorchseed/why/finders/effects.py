"""Finds what other cells did that may have set something in a library."""

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
    """Find the last act of another cell that may have set something in a library.

    An act is an assignment to an attribute of the library, or a statement that consists of a call.
    The cell must use the library too. Calls of libraries whose settings are recorded are left out.
    """
    between = [run for run in evidence.here if run.cell != evidence.run.cell]
    for package, name, did, run in chain.from_iterable(
        _acts(evidence, each) for each in between[::-1]
    ):
        if evidence.uses(package) and package not in sys.stdlib_module_names:
            message = (
                f"{evidence.name(run)} {did}, and this cell also uses {package}; no recorded input"
                " changed"
            )
            yield Cause("flag", name, message, blame=(Blame(run, did),), prevents=True)
            return


def _acts(evidence: Evidence, run: Run) -> Iterator[tuple[str, str, str, Run]]:
    """Yield each act of a run: its package, its name, what was done, and the run."""
    for action in run.actions:
        name = action.removesuffix("=")
        if action != name and "." in name and not name.endswith("]"):
            package = name.partition(".")[0]
            yield package, name, f"set `{name}`", run
    for call in evidence.states.written(run).calls:
        package = _package(evidence, call)
        if call.is_statement and package not in {"", *_known()} and not _shows(run, call):
            name = f"{package}.{call.name.removeprefix(f'{package}.')}"
            of = "" if call.name == name else f" of {package}"
            yield package, name, f"called `{call.name}()`{of}", run


def _known() -> set[str]:
    """Return the packages whose settings are recorded."""
    rows = BY_NAME.values()
    return {each.partition(".")[0] for row in rows for each in (row.package, *row.through)}


def _package(evidence: Evidence, call: Call) -> str:
    """Return the package that the called name was imported from; "" if unknown."""
    runs = chain([evidence.run], evidence.latest)
    imports = (evidence.states.written(run).imports.get(call.root) for run in runs)
    return next(filter(None, imports), "")


def _shows(run: Run, call: Call) -> bool:
    """Return whether a cell may show the result of a call."""
    return call.is_last and run.outputs.result is not None
