"""Finds values that could not be compared in full, and so may be unnoticed causes."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence

from ipytorchseed.determinism.library_calls import known_calls
from ipytorchseed.fingerprint.value import Fingerprint, same
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.dependencies import is_too_long
from ipytorchseed.reads.entropy import programs_of, say_programs
from ipytorchseed.reads.written import Call, Written
from ipytorchseed.why.changes import UNSEEN, find_changes, not_compared
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.words import first_of

_UNFOLLOWED = "what a cell this long reads and changes"

# The maximum number of variables, or of runs that may have changed one, that a sentence names.
_NAMED = 3

# Kinds of values that never count as opaque: their content does not affect results, or is recorded
# in another way.
_NO_CONTENT = frozenset({"lock", "progress bar", "namespace", "function", "class", "method", "rng"})


def unknown_outcome(against: Run, run: Run) -> list[str]:
    """Return the variables and outputs of two runs that could not be compared.

    Args:
        against: The earlier run.
        run: The later run.
    """
    earlier = against.writes
    made = [
        name
        for name, after in run.writes.items()
        if name in earlier and same(earlier[name], after) is None
    ]
    return [*made, *not_compared(against.outputs, run.outputs), *_unfollowed(run)]


def find_alike(run: Run, earlier: Iterable[Run]) -> Run | None:
    """Return the first of several earlier runs whose result is the same as ``run``'s."""
    for each in earlier:
        if not (find_changes(each, run) or unknown_outcome(each, run)):
            return each
    return None


def _unfollowed(run: Run) -> list[str]:
    return [_UNFOLLOWED] if is_too_long(run.source) else []


def find_unknown_inputs(evidence: Evidence) -> tuple[str, ...]:
    """Find the inputs and files of both runs that could not be compared in full."""
    run, reads = evidence.run, evidence.against.reads
    files = {file.path: file for file in evidence.against.files}
    found = [
        each for each in run.reads if each in reads and same(reads[each], run.reads[each]) is None
    ]
    found += [it.path for it in run.files if it.path in files and files[it.path].same(it) is None]
    return (*found, *_unfollowed(run))


def unseen(earlier: Mapping[str, Fingerprint], later: Mapping[str, Fingerprint]) -> list[str]:
    """Return the names of opaque values in both mappings.

    Opaque values are objects of C code, databases and figures.
    """
    return [
        name for name, value in later.items()
        if name in earlier and hides(earlier[name]) and hides(value)
    ]  # fmt: skip


def hides(value: Fingerprint) -> bool:
    """Return whether a value has content that cannot be inspected."""
    return value.kind not in _NO_CONTENT and (value.opaque or "unseen" in value.parts)


def say_use(calls: Sequence[Call], name: str) -> str:
    """Return a phrase for method calls on a variable, else for a call with it; or ""."""
    methods = dict.fromkeys(f"`{call.name or call.tail}()`" for call in calls if call.root == name)
    if methods:
        return f"called {first_of([*methods], _NAMED, ' and ')}"
    taker = _taker(calls, name)
    return f"called `{taker}()` with `{name}`" if taker else ""


def say_effect(run: Run, text: Written, name: str) -> str:
    """Return a phrase about how a cell may alter a variable's object, or "".

    A cell may alter the object by setting an attribute or item, or by a call whose result it
    neither uses nor shows.

    Args:
        run: A run of the cell.
        text: The calls and assignments in the cell's text.
        name: The variable.
    """
    result = run.outputs.result
    shows = result is not None and not hides(result)
    calls = [call for call in text.calls if call.is_unused and not (shows and call.is_last)]
    return say_use(calls, name) or (f"changed `{name}`" if name in text.altered else "")


def may_alter(run: Run, text: Written, name: str, reader: str) -> bool:
    """Return whether a run may have altered an object in a way that a cell can see.

    A run of the reading cell itself counts only if the cell also uses a value of the object. If it
    only calls methods for their effect, the object may be a logger.

    Args:
        run: The run.
        text: The calls and assignments in the text of the run's cell.
        name: The object's name.
        reader: The cell that reads the object.
    """
    is_used = run.cell != reader or name in text.used
    return is_used and bool(say_effect(run, text, name))


def say_unseen(against: Run, run: Run, calls: Sequence[Call]) -> str:
    """Return a clause about what a cell uses that was not recorded, or "".

    The clause names programs, opaque values, caches and native code.
    """
    programs = programs_of(run.nondeterministic_calls)
    hidden = unseen(against.reads, run.reads)[:_NAMED]
    said = [f"the cell {say_programs(programs)}"] if programs else []
    methods = {call.root: call.name for call in calls if call.root in hidden and call.name}
    advice = [
        f"if `{call}()` changes it, create `{it}` in this cell" for it, call in methods.items()
    ]
    noted = f" ({'; '.join(advice)})" if advice else ""
    said += [say_hidden(hidden) + noted] if hidden else []
    cached = [f"`{name}`" for name, value in run.reads.items() if "kept" in value.parts]
    if cached:
        said.append(f"cached results of {first_of(cached, _NAMED, ' and ')} cannot be inspected")
    native = [called for package, called in known_calls().native.items() if package in run.packages]
    if native:
        names = first_of(native, _NAMED, " and ")
        said.append(f"threads and random numbers in the native code of {names} are not recorded")
    return ", and ".join(said)


def _taker(calls: Sequence[Call], name: str) -> str:
    """Return the first call, except of a builtin, that takes a variable, or ""."""
    takers = (each.name for each in calls if name in each.takes)
    return next((each for each in takers if each and not hasattr(builtins, each)), "")


def say_hidden(names: Sequence[str]) -> str:
    """Return a clause: "`a` and `b` cannot be inspected"."""
    return f"{first_of([f'`{name}`' for name in names], _NAMED, ' and ')} cannot be inspected"


def say(unknown: Sequence[str]) -> str:
    """Return a clause that names values that were not compared in full."""
    names = first_of(unknown, _NAMED, " and ")
    if names in {UNSEEN, _UNFOLLOWED}:
        return f"{names} is not recorded in full"
    return f"{names} {'were' if len(unknown) > 1 else 'was'} not read in full"
