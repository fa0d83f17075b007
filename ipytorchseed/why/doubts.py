"""Finds reasons why a cell may differ when it runs again from the same state."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import PurePath

from ipytorchseed.determinism.libraries import BY_NAME, FIGURES, TEXT
from ipytorchseed.determinism.machine import FACTS
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.actions import imports_of, last_part, may_set_state
from ipytorchseed.reads.dependencies import is_too_long
from ipytorchseed.reads.entropy import MEMORY, PLACES, call_of, is_program
from ipytorchseed.why.evidence import Present, does, is_strict, run_phrase

# Settings that no command restores: versions and hardware.
_FACTS = {fact.name for fact in FACTS}

# Facts that matter to every cell.
_ALWAYS_MATTER = {"python", "cpu", "gpu"}

_OF_TORCH = {"cuda", "cudnn"}

# Modules that draw no numbers when they are imported.
_DRAW_NOTHING = sys.stdlib_module_names | {"torch", "numpy"}

# Settings that cannot be changed once their library is loaded.
_LATE = {
    "torch.num_interop_threads": "torch",
    "OMP_NUM_THREADS": "numpy",
    "MKL_NUM_THREADS": "numpy",
    "MKL_CBWR": "numpy",
}


_ASKS_FOR_FILES = frozenset({"exists", "is_file", "isfile"})


def find_doubts(run: Run, present: Present) -> Iterator[str]:
    """Yield reasons why a cell may give a different result, each as a clause.

    Args:
        run: The run of the cell.
        present: The kernel that will run it.
    """
    name = run_phrase(run, present.kernel)
    yield from _of_settings(run, present, name)
    for source, before, after in moves(run):
        if before is not None or after is None or source in run.generators:
            continue  # the run itself creates a generator
        if not (_is_seeded(run, source) or present.is_fresh(after)):
            yield f"{name} imported {source}, whose state was not recorded before that"
    imports = imports_of(run.actions) - _DRAW_NOTHING - present.met_before(run)
    moved = {source for source, before, after in moves(run) if before not in (None, after)}
    if imports and not all(_is_seeded(run, source) for source in moved - {*run.imported}):
        names = ", ".join(sorted(imports))
        yield f"{name} imports {names}: numbers that only a first import draws are not drawn again"
    if _adds_in_any_order(run):
        yield f"{name} computed on a GPU, which may add numbers in another order each time"
    if is_too_long(run.source):
        yield f"it is not known what {name} reads: its text is too long to analyze"
    yield from _of_files(run, present, name)
    yield from _of_calls(run, name)


def _of_calls(run: Run, name: str) -> Iterator[str]:
    for asked, is_used in run.nondeterministic_calls.items():
        if is_program(asked):
            yield f"{name} runs another program: {asked}"
        elif asked in PLACES:
            yield f"{name} depends on where {PLACES[asked]}"
        elif is_used and asked not in {"hash", *MEMORY}:
            yield f"{name} calls {call_of(asked)}, which is different every time"


def _of_files(run: Run, present: Present, name: str) -> Iterator[str]:
    for path in sorted(present.changed_files(run)):
        if path in run.outside.wrote:
            yield f"{PurePath(path).name}, which {name} read and wrote, has changed since"
        elif path.endswith("/"):
            yield f"{PurePath(path).name}/, which {name} listed, holds different files now"
    if not _ASKS_FOR_FILES.isdisjoint(map(last_part, run.actions)):
        read = {file.path for file in run.files}
        for path in (
            each for each in run.outside.wrote if each not in read and present.is_file(each)
        ):
            yield f"{PurePath(path).name}, which {name} wrote, is there now"


def moves(run: Run) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield each source and generator with its states before and after a run."""
    for name in {**run.before, **run.after}:
        yield name, run.before.get(name), run.after.get(name)


def _of_settings(run: Run, present: Present, name: str) -> Iterator[str]:
    then, now = run.settings, present.settings_now(run)
    used = {*run.packages, *_ALWAYS_MATTER, *(_OF_TORCH if "torch" in run.packages else ())}
    for setting in sorted(then.keys() & now.keys()):
        was, is_now = then[setting], now[setting]
        if was == is_now or None in (was, is_now):
            continue
        if setting in _FACTS & used or _LATE.get(setting) in run.packages:
            yield f"{setting} was {was} for {name}; it is {is_now} now"
        elif setting in BY_NAME and not BY_NAME[setting].can_be(was) and _can_affect(run, setting):
            yield f"{setting} was different in {name}"
    hashes = then.get("PYTHONHASHSEED"), now.get("PYTHONHASHSEED")
    same_order = run.kernel == present.kernel or hashes[0] == hashes[1] != "random"
    if "hash" in run.nondeterministic_calls and not same_order:
        yield f"{name} depends on hash order, which differs from kernel to kernel"


# Functions and methods that may add numbers in any order on a GPU, except under deterministic
# algorithms.
_ADDS = lazy_pattern(
    r"\b(?:backward|index_add|index_put|put_|scatter|bincount|histc|cumsum|ctc_loss)"
)


def _adds_in_any_order(run: Run) -> bool:
    """Return whether a GPU may have added numbers in any order during a run."""
    started = any(":" in name for name in run.after.keys() - run.generators.keys())
    trained = any(run.writes[name].kind in ("module", "optimizer") for name in run.in_place)
    return started and not is_strict(run) and (trained or does(run, _ADDS))


def _can_affect(run: Run, setting: str) -> bool:
    """Return whether a library's setting may change what a run makes or shows."""
    shown = any((run.outputs.shown, run.outputs.stdout, run.outputs.error, *run.outputs.displays))
    shown = shown or any(value.kind in ("str", "text") for value in run.writes.values())
    return shown or BY_NAME[setting].acts_on not in (TEXT, FIGURES)


def _is_seeded(run: Run, source: str) -> bool:
    """Return whether a run seeds a source, as far as its actions show."""
    return bool(run.seeds) or may_set_state(run.actions, source)
