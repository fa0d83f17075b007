"""Traces the runs of a check to find the first operation that differs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.determinism.advice import find_advice, has_other_algorithm
from ipytorchseed.experiment.repeating import Outcome, RepeatedCell, find_differences
from ipytorchseed.experiment.verdict import Culprit, Entry, Traced
from ipytorchseed.ledger.records import FileRead
from ipytorchseed.reads.entropy import is_program, sentence
from ipytorchseed.session.files import FileWatch
from ipytorchseed.trace.compiled import COMPILED
from ipytorchseed.why.words import many

if TYPE_CHECKING:
    from ipytorchseed.trace.comparison import Comparison
    from ipytorchseed.trace.loading import Loaded, Operation
    from ipytorchseed.trace.recorder import Recorder

# The most traced runs that are compared with the first one, until one differs.
_ATTEMPTS = 4

# What a trace cannot see in a cell that uses compiled code.
_COMPILED = "operations inside torch.compile's regions are not seen, only what goes in and out"

# Packages that run code in varying order.
_CONCURRENT = frozenset({"asyncio", "concurrent", "joblib", "multiprocessing", "threading"})

# Seconds to read the files that a run read.
_FILE_SECONDS = 2.0


class _Run(Struct):
    """A traced run: its outcome, its operations, and the files that it read."""

    outcome: Outcome
    recorder: Recorder | None
    files: dict[str, FileRead]

    def trace(self) -> Loaded | None:
        """Return its operations; None without torch."""
        recorded = None if self.recorder is None else self.recorder.trace
        return None if recorded is None else recorded.load()


class Tracing:
    """Traces a cell whose runs differ.

    Args:
        cell: The cell.
    """

    def __init__(self, cell: RepeatedCell) -> None:
        self._cell = cell
        self._fill = 0

    def trace(self, second: Outcome) -> Traced:
        """Find the origin of the difference.

        Args:
            second: The outcome of the first run on copies.
        """
        from ipytorchseed.trace.comparing import compare

        found = Traced()
        first = self._traced("a traced run")
        trace = first.trace()
        last, compared, differ = first, None, False
        runs = [first]
        for attempt in range(1, _ATTEMPTS + 1):
            last = self._traced(f"a traced run to compare, {attempt} of at most {_ATTEMPTS}")
            runs.append(last)
            other = last.trace()
            if trace is not None and other is not None:
                compared = compare(trace, other)
            differ = bool(find_differences(first.outcome, last.outcome))
            if differ or not (compared is None or compared.equal):
                break
        found.first_only = not any(find_differences(second, each.outcome) for each in runs)
        if last.recorder is not None:
            found.operations = last.recorder.count
            found.notes += tuple(last.recorder.notes)
        if compared is not None:
            self._judge(found, compared)
        first_difference = None if compared is None else compared.first
        if found.culprit is None or (first_difference is not None and first_difference.outside):
            found.suspects = tuple(self._suspects(first, last))
            # with equal operations, so it depends on the time
            if differ and not found.suspects:
                found.suspects = tuple(map(sentence, sorted(self._cell.dependencies.timing)))
        return found

    # -- runs --------------------------------------------------------------------------------------

    def _traced(self, what: str) -> _Run:
        """Run the cell, and record its operations and the files that it read."""
        self._cell.progress(what)
        torch = hasattr(sys.modules.get("torch"), "nn")
        recorder = self._recorder(what) if torch else None
        watch = FileWatch()
        watch.start()
        try:
            outcome = self._cell.again(recorder)
        finally:
            watch.stop()
        files = {file.path: file for file in watch.read(_FILE_SECONDS, "\0")}
        return _Run(outcome, recorder, files)

    def _recorder(self, what: str) -> Recorder:
        from ipytorchseed.trace.draws import Draws
        from ipytorchseed.trace.file import Trace
        from ipytorchseed.trace.recorder import Recorder

        cell = self._cell
        # uninitialized memory never has the same bytes twice
        self._fill += 0x35
        return Recorder(
            cell.lines,
            cell.namespace,
            draws=Draws(cell.namespace, count=False),
            fill=self._fill,
            trace=Trace(),
            progress=lambda count: cell.progress(f"{what}: {count:,} operations"),
        )

    # -- operations --------------------------------------------------------------------------------

    def _judge(self, found: Traced, compared: Comparison) -> None:
        """Examine the operations that the comparison named."""
        first, operation = compared.first, compared.operation
        if first is not None and first.outside:
            shown = first.shown
            found.entry = Entry(shown.name, shown.place.line or None, draws=first.draws)
        if first is not None and first.source is not None:
            found.culprit = _unwritten(self._cell, first.source, first.shown)
        elif operation is not None:
            found.culprit = _culprit(self._cell, operation.shown)
        if any(call.place.module.endswith(COMPILED) for call in compared.b.calls):
            found.notes += (_COMPILED,)

    # -- outside torch
    # ------------------------------------------------------------------------------

    def _suspects(self, first: _Run, last: _Run) -> list[str]:
        """Return what can explain a difference that no operation made."""
        dependencies = self._cell.dependencies
        asks = sorted(dependencies.nondeterministic_calls - dependencies.timing)
        said = [sentence(name) for name in asks if not is_program(name)]
        said += [
            f"{path} had other content when the cell read it again: files are not put back"
            for path, file in last.files.items()
            if path not in first.files or first.files[path].digest != file.digest
        ]
        threads = 0 if last.recorder is None else last.recorder.threads - 1
        uses = ", ".join(sorted(dependencies.packages & _CONCURRENT))
        threads *= not any(map(is_program, asks))  # IPython waits for its output in a thread
        if threads > 0 or uses:
            own = f"computed in {many(threads, 'thread')} that it started"
            how = own if threads > 0 else f"uses {uses}"
            said.append(f"it {how}: their order varies from run to run")
        if dependencies.hashes:
            said.append(
                "it may use the order of a set, which depends on addresses if it has objects"
            )
        differences = find_differences(first.outcome, last.outcome)
        left = [each.name for each in differences if each.what == "source"]
        if left and not said:
            said.append(f"{left[0]} was left in another state: the runs drew differently from it")
        return said + [sentence(name) for name in asks if is_program(name)]


def _culprit(cell: RepeatedCell, shown: Operation) -> Culprit:
    """Describe an operation, with its place in the cell and what torch says about it."""
    short = shown.name.rpartition("::")[2]
    advice = find_advice(short)
    place, known = shown.place, "" if advice is None else "raises"
    return Culprit(
        operation=shown.name,
        line=place.line or None,
        code=cell.line(place.line),
        index=shown.index,
        module=place.module,
        backward=place.backward,
        instead=advice or "",
        known="switches" if has_other_algorithm(short) else known,
    )


def _unwritten(cell: RepeatedCell, source: Operation, reader: Operation) -> Culprit:
    """Describe an operation whose uninitialized memory was read."""
    return replace(
        _culprit(cell, source),
        unwritten=True,
        read_by=(reader.name, reader.place.line),
        instead="torch.zeros, or write all of it before it is read",
        known="switches",
    )
