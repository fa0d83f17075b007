"""Traces the runs of a check to find the first operation that differs."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.determinism.advice import find_advice, has_other_algorithm
from ipytorchseed.experiment.repeating import Outcome, RepeatedCell, find_differences
from ipytorchseed.experiment.verdict import Culprit, Entry, Traced
from ipytorchseed.ledger.records import FileRead
from ipytorchseed.reads.entropy import is_program, sentence
from ipytorchseed.session.files import FileWatch
from ipytorchseed.why.words import many

if TYPE_CHECKING:
    from ipytorchseed.trace.comparison import Comparison
    from ipytorchseed.trace.format import Place
    from ipytorchseed.trace.loading import Loaded, Operation
    from ipytorchseed.trace.probe import Memory, Probe
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
        self._differ = False

    def trace(self, second: Outcome) -> Traced:
        """Find the origin of the difference.

        Args:
            second: The outcome of the first run on copies.
        """
        from ipytorchseed.trace.comparing import compare

        found = Traced()
        first = self._traced("a traced run")
        trace = first.trace()
        last, compared = first, None
        runs = [first]
        for attempt in range(1, _ATTEMPTS + 1):
            last = self._traced(f"a traced run to compare, {attempt} of at most {_ATTEMPTS}")
            runs.append(last)
            other = last.trace()
            if trace is not None and other is not None:
                compared = compare(trace, other)
            self._differ = bool(find_differences(first.outcome, last.outcome))
            if self._differ or not (compared is None or compared.equal):
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
            if self._differ and not found.suspects:
                found.suspects = tuple(map(sentence, sorted(self._cell.dependencies.timing)))
        if not found.first_only and self._uses_compiled_code():
            found.notes += (_COMPILED,)
        return found

    # -- runs --------------------------------------------------------------------------------------

    def _traced(self, what: str, probe: Probe | None = None) -> _Run:
        """Run the cell, and record its operations and the files that it read."""
        self._cell.progress(what)
        torch = hasattr(sys.modules.get("torch"), "nn")
        recorder = self._recorder(what, probe) if torch else None
        watch = FileWatch()
        watch.start()
        try:
            outcome = self._cell.again(recorder)
        finally:
            watch.stop()
        files = {file.path: file for file in watch.read(_FILE_SECONDS, "\0")}
        return _Run(outcome, recorder, files)

    def _recorder(self, what: str, probe: Probe | None) -> Recorder:
        from ipytorchseed.trace.draws import Draws
        from ipytorchseed.trace.file import Trace
        from ipytorchseed.trace.recorder import Recorder

        cell = self._cell
        # uninitialized memory never has the same bytes twice
        self._fill = (self._fill + 0x35) % 0x7F
        return Recorder(
            cell.lines,
            cell.namespace,
            draws=Draws(cell.namespace, count=False),
            probe=probe,
            fill=self._fill,
            trace=Trace(),
            progress=lambda count: cell.progress(f"{what}: {count:,} operations"),
        )

    # -- operations --------------------------------------------------------------------------------

    def _judge(self, found: Traced, compared: Comparison) -> None:
        """Examine the operations that the comparison named."""
        first, operation, trace = compared.first, compared.operation, compared.b
        if first is not None and first.outside:
            shown = first.shown
            probe = self._look_closer(trace, shown)
            if probe.unwritten is not None:
                found.culprit = self._unwritten(probe.unwritten, shown)
                return
            found.entry = Entry(shown.name, shown.place.line or None, draws=first.draws)
        if operation is not None:
            found.culprit = self._culprit(trace, operation.shown)
        elif first is None and not found.first_only:
            probe = self._look_closer(trace)
            if probe.left and self._differ:
                found.culprit = self._unwritten(probe.left[0], None)

    def _look_closer(
        self, trace: Loaded, shown: Operation | None = None, *, repeats: bool = False
    ) -> Probe:
        """Trace one more run, with a probe for an operation of the one before."""
        from ipytorchseed.trace.probe import Probe

        probe = Probe()
        if shown is not None:
            probe = Probe(shown.name, shown.place, trace.count_earlier(shown.index), repeats)
        self._traced("a traced run to look closer", probe)
        return probe

    def _culprit(self, trace: Loaded, shown: Operation) -> Culprit:
        """Describe an operation, which is repeated on the same input within one more run."""
        short = shown.name.rpartition("::")[2]
        advice = find_advice(short)
        known = "switches" if has_other_algorithm(short) else "raises" if advice is not None else ""
        probe = self._look_closer(trace, shown, repeats=True)
        return self._name(
            shown.name,
            shown.place,
            index=shown.index,
            backward=shown.place.backward,
            instead=advice or "",
            known=known,
            runs=probe.runs,
            results=probe.results,
            apart=probe.apart,
        )

    def _name(self, operation: str, place: Place, **about: Any) -> Culprit:
        """Return an operation with its place in the cell."""
        line, code = place.line or None, self._cell.line(place.line)
        return Culprit(operation, line, code, module=place.module, **about)

    def _unwritten(self, memory: Memory, reader: Operation | None) -> Culprit:
        """Return the operation whose uninitialized memory was read."""
        return self._name(
            memory.operation,
            memory.place,
            index=memory.index,
            unwritten=True,
            read_by=None if reader is None else (reader.name, reader.place.line),
            instead="torch.zeros, or write all of it before it is read",
            known="switches",
        )

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

    def _reached(self) -> list[tuple[str, Any]]:
        """Return the variables that the cell may reach, with their current values."""
        names = self._cell.namespace
        return [(name, names[name]) for name in self._cell.engine.copied if name in names]

    def _uses_compiled_code(self) -> bool:
        """Return whether the cell uses compiled code."""
        frames: Any = sys.modules.get("torch._dynamo.eval_frame")
        if frames is None:
            return False
        if "torch.compile" in self._cell.source:
            return True
        return any(
            issubclass(type(value), frames.OptimizedModule)
            or (type(value) is FunctionType and "_torchdynamo_orig_callable" in vars(value))
            for _, value in self._reached()
        )
