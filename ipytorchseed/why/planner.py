"""Plans which cells to run again, and in which order, to restore a result."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy
from pathlib import PurePath

from ipytorchseed.fingerprint.value import Fingerprint, same
from ipytorchseed.ledger.records import UNDONE, Run
from ipytorchseed.reads.dependencies import is_result
from ipytorchseed.reads.entropy import CLOCKS, ENTROPY, MEMORY, STANDS, call_of, is_program
from ipytorchseed.why.doubts import find_doubts, moves
from ipytorchseed.why.evidence import Present, reloads, run_phrase, run_word
from ipytorchseed.why.finders.calls import calls_of
from ipytorchseed.why.plan import Plan, Step, outside_of
from ipytorchseed.why.unknown import hides, may_alter
from ipytorchseed.why.words import first_of

# The maximum number of cells to try.
_MAX_TRIES = 300

# Kinds of values whose record contains the whole value.
_PLAIN = frozenset({"bool", "float", "int"})

# How many names a message mentions.
_MAX_NAMED = 3

_GENERATORS = "generators inside `{}` are restored only if their states were recorded"


# The attributes of a planner that change while it tries a cell.
_DRAFT = ("_steps", "_now", "_bound", "_doubts", "_written")


def make_plan(target: Run, present: Present, *, writes: bool = True) -> Plan:
    """Return the steps that lead from the kernel's present state to a run's result.

    A cell is run again only after its inputs are restored: the cells that make changed inputs run
    first. The planner runs no cell. It tracks the values that the steps would give to variables.

    Args:
        target: The run whose result is wanted.
        present: This kernel, and earlier runs.
        writes: Whether a cell may run again to restore a file that it writes.
    """
    return _Planner(target, present, writes=writes).plan()


class _Planner:
    def __init__(self, target: Run, present: Present, *, writes: bool) -> None:
        self._target = target
        self._writes = writes
        self._written: set[str] = set()
        self._present = present
        self._now: dict[str, Fingerprint] = {}
        self._bound: set[str] = set()
        self._steps: list[Step] = []
        self._doubts: dict[str, None] = {}
        self._under_way: set[int | None] = set()
        self._tries = _MAX_TRIES
        self._blocked = ""
        self._then = f"then %replay {run_word(target, present.kernel)}"

    def plan(self) -> Plan:
        target = self._target
        blocked = self._refusal(target) or ("" if self._prepare(target) else self._blocked)
        if blocked:
            return Plan(target, blocked=blocked)
        self._steps.append(self._step(target))
        doubts = [doubt for step in self._steps for doubt in find_doubts(step.run, self._present)]
        reads = {name: value for step in self._steps for name, value in step.run.reads.items()}
        doubts += [
            f"`{name}` caches results, and now also those of later calls"
            for name, value in reads.items()
            if "kept" in value.parts and name not in self._now
        ]
        doubts += [f"{self._name(target)} {asks}" for asks in self._entropy_calls(target)]
        return Plan(target, tuple(self._steps), tuple(dict.fromkeys([*self._doubts, *doubts])))

    def _entropy_calls(self, run: Run) -> list[str]:
        """Return clauses about calls of libraries that draw from unrecorded streams."""
        calls = (each for each in calls_of(self._present, run) if each.kind == "entropy")
        return [f"calls {call_of(each.name)}, which is different every time" for each in calls]

    def _name(self, run: Run) -> str:
        return run_phrase(run, self._present.kernel)

    def _block(self, reason: str) -> bool:
        """Record why there is no way, unless a reason is recorded, and return False."""
        self._blocked = self._blocked or reason
        return False

    # -- restoring inputs ------------------------------------------------------------------------

    def _prepare(self, reader: Run) -> bool:
        """Add steps that restore the inputs of a run; return whether there is a way."""
        self._under_way.add(reader.id)
        try:
            if not self._prepare_files(reader):
                return False
            while wanting := [*self._changed_names(reader)]:
                makers = {name: self._makers(name, reader) for name in wanting}
                numbers = {name: runs[0].id or 0 if runs else 0 for name, runs in makers.items()}
                first = min(wanting, key=numbers.__getitem__)
                if any(self._try(maker, first) for maker in makers[first]):
                    continue
                now, wanted = self._value(first), reader.reads.get(first)
                if wanted is None:
                    self._bound.add(first)  # the run may have found no such name either
                elif now is None or not same(now, wanted):
                    return self._block(self._unmade_message(first, reader))
                elif reader.generators.keys() & reader.before:
                    self._now[first] = wanted  # the states of generators are restored
                    self._doubts[_GENERATORS.format(first)] = None
                elif hides(wanted) and not self._is_remade(first, reader):
                    self._now[first] = wanted
                else:
                    return self._block(self._unmade_message(first, reader))
            return True
        finally:
            self._under_way.discard(reader.id)

    def _prepare_files(self, reader: Run) -> bool:
        """Add the cells that wrote a run's files; return whether there is a way."""
        for path in self._present.changed_files(reader):
            if path in {*reader.outside.wrote, *self._written} or path.endswith("/"):
                continue
            can = self._writes and not reader.may_read_file_times
            writer = next(iter(self._present.writers(path, reader)), None) if can else None
            appends = writer is not None and path in {file.path for file in writer.files}
            file = PurePath(path).name
            if writer is None or appends or not self._try(writer):
                name = self._name(reader)
                return self._block(
                    f"{file} has changed since {name} read it; restore that file, {self._then}"
                )
            read = next((each for each in reader.files if each.path == path), None)
            if read is None or writer.lasts_at(read.modified / 1e9):
                self._doubts[f"{self._name(writer)} has to write `{file}` again"] = None
            else:
                self._doubts[f"`{file}` was changed after {self._name(writer)} wrote it"] = None
        return True

    def _changed_names(self, reader: Run) -> Iterator[str]:
        """Yield the names whose values would differ from the values that a run found."""
        for name in self._present.effects(reader).reads:
            if name not in {*reader.reads, *reader.missing} and not self._is_bound(name):
                yield name
        for name, wanted in reader.reads.items():
            if not self._is_restored(name, wanted, reader):
                yield name

    def _is_bound(self, name: str) -> bool:
        return name in self._bound or self._present.is_bound(name)

    def _is_restored(self, name: str, wanted: Fingerprint, reader: Run) -> bool:
        if (wanted.kind == "rng" and "." not in name) or name in reader.generators:
            return self._is_bound(name)  # its state is restored with the sources
        now = self._value(name)
        if now is None:
            return "." in name  # a value of a module that a step will import
        if self._is_of_old_class(name, reader):
            return False
        alike = same(now, wanted)
        if alike is None and _not_digested(now) == _not_digested(wanted):
            self._doubts[f"`{name}` was not read in full"] = None
            return True
        here = reader.kernel == self._present.kernel  # set order differs between kernels
        if here and now.parts.get("order") != wanted.parts.get("order"):
            self._doubts[f"`{name}` holds its items in another order"] = None
        if alike and hides(wanted) and name not in self._now:
            return not (self._is_remade(name, reader) or self._is_altered(name, reader))
        return alike is True and _not_digested(now) == _not_digested(wanted)

    def _is_remade(self, name: str, reader: Run) -> bool:
        """Return whether a variable may have been rebound since a run read it."""
        made, remade = (next(iter(self._present.setters(name, it)), None) for it in (reader, None))
        return made is not None and remade is not None and not _are_alike(made, remade)

    def _is_altered(self, name: str, reader: Run) -> bool:
        """Return whether to recreate an opaque variable that cells may have altered.

        False if cells may already have altered it before the run: recreating it would lose those
        changes.
        """
        present = self._present
        then, now = (
            any(
                may_alter(run, present.written(run), name, reader.cell)
                for run in present.users(name, it)
            )
            for it in (reader, None)
        )
        makers = self._makers(name, reader) if now and not then else []
        return bool(makers) and not outside_of(makers[0], self._present)

    def _is_of_old_class(self, name: str, reader: Run) -> bool:
        """Return whether a variable was created with a class that a step redefines."""
        redefined = self._classes()
        makers = self._makers(name, reader)[:1] if redefined and name not in self._now else []
        return any(not redefined.keys().isdisjoint(maker.reads) for maker in makers)

    def _classes(self) -> dict[str, Fingerprint]:
        """Return the classes that steps redefine, by name."""
        return {name: value for name, value in self._now.items() if value.kind == "class"}

    def _value(self, name: str) -> Fingerprint | None:
        """Return a variable's value after the steps."""
        return self._now.get(name) or self._present.last(name)

    def _makers(self, name: str, reader: Run) -> list[Run]:
        """Return the runs that may restore a variable, the best first."""
        wanted = reader.reads.get(name)
        if wanted is None or wanted.kind == "rng":
            return [*self._present.setters(name, reader)][:1]
        makers = [
            run
            for run in self._present.makers(name, wanted.digest)
            if _not_digested(run.writes[name]) == _not_digested(wanted)
            # Only the first import of a module runs its code.
            and (name.rpartition(".")[0] not in run.loaded or reloads(run, name))
        ]
        if hides(wanted):  # an equal digest does not prove equal content
            here = [run for run in makers if run.kernel == reader.kernel]
            before = [run for run in here if (run.id or 0) < (reader.id or 0)]
            return before[:1] or makers
        classes = self._classes()

        def fits_worse(run: Run) -> tuple[bool, bool]:
            used = classes.keys() & run.reads.keys()
            return any(same(classes[it], run.reads[it]) is False for it in used), name in run.reads

        makers.sort(key=fits_worse)  # prefer equal classes, then runs that need no earlier value
        if makers and not wanted.exact:
            self._doubts[f"`{name}` cannot be inspected in full"] = None
        return makers

    def _try(self, maker: Run, name: str = "") -> bool:
        """Add a cell that makes a variable or file; if impossible, change nothing."""
        if self._tries == 0 or maker.id in self._under_way:
            return False
        self._tries -= 1
        kept = {name: copy(vars(self)[name]) for name in _DRAFT}
        if self._can_repeat(maker) and self._prepare(maker):
            made = {name, *(each for each in self._target.reads if each in maker.writes)} - {""}
            self._written.update(maker.outside.wrote)
            self._steps.append(self._step(maker, *sorted(made)))
            self._now.update(maker.writes)
            self._bound |= self._present.effects(maker).writes
            if name in maker.timed:
                self._doubts[f"`{name}` holds a time or an address"] = None
            return True
        vars(self).update(kept)
        return False

    def _step(self, run: Run, *makes: str) -> Step:
        return Step(run, makes, outside_of(run, self._present))

    def _can_repeat(self, maker: Run) -> bool:
        """Return whether running a cell again makes the same values."""
        leave_alone = {*CLOCKS, *STANDS, *MEMORY, "hash"}  # results rarely depend on these
        asked = [name for name in maker.nondeterministic_calls if name not in leave_alone]
        entropy = [name for name in asked if not is_program(name)]
        if _seeds_only(maker, entropy):  # the states of these generators are restored
            entropy = []
        draws = [f"calls {call_of(name)}" for name in entropy]
        draws += self._entropy_calls(maker)
        why = f"{self._name(maker)} has to run again, and {draws[0]}" if draws else ""
        refusal = why or self._refusal(maker)
        return not refusal or self._block(refusal)

    def _unmade_message(self, name: str, run: Run) -> str:
        """Return the message for a changed variable that no recorded cell restores."""
        reader, value = self._name(run), run.reads.get(name)
        module, then = name.rpartition(".")[0], self._then
        if is_result(name):
            return f"`{name}` is a cell's output: show the output that {reader} read again, {then}"
        if not module:
            return f"no recorded cell makes the `{name}` that {reader} read: make it again, {then}"
        how = f"restore {module} and reload it"
        if value is not None and value.kind in _PLAIN and " " not in value.summary:
            how = f"set it to {value.summary}"
        return f"`{name}` is not what {reader} read: {how}, {then}"

    # -- obstacles -------------------------------------------------------------------------------

    def _refusal(self, run: Run) -> str:
        """Return why a run cannot be repeated, or ""."""
        name = self._name(run)
        if run.status != "ok":
            how = {"interrupted": "was interrupted", UNDONE: "was undone"}.get(
                run.status, f"failed ({run.outputs.error})"
            )
            return f"{name} {how}: there is no result to bring back"
        moved = {
            name: before
            for name, before, after in moves(run)
            if before is not None and before != after
        }
        gone = self._present.pruned(moved.values())
        if gone:
            names = first_of([name for name, digest in moved.items() if digest in gone], _MAX_NAMED)
            return (
                f"the state of {names} when {name} began is no longer in the ledger: states are"
                " pruned before runs"
            )
        return ""


def _are_alike(run: Run, other: Run) -> bool:
    """Return whether two runs are the same, or have equal code, inputs and states."""
    reads = run.reads.keys() == other.reads.keys() and all(
        same(value, other.reads[name]) for name, value in run.reads.items()
    )
    return run.id == other.id or (run.code == other.code and reads and run.before == other.before)


def _seeds_only(maker: Run, entropy: Collection[str]) -> bool:
    """Return whether a run apparently used entropy only to seed library generators.

    True if the run created such generators, whose states are recorded, and called no entropy
    function of Python or the system.
    """
    kept = maker.generators.keys() & maker.after.keys() - maker.before.keys()
    return ENTROPY.keys().isdisjoint(entropy) and any(
        " in " in maker.generators[name] for name in kept
    )


def _not_digested(value: Fingerprint) -> tuple[str | None, ...]:
    """Return parts that a digest omits: generators inside a value, and memory layout."""
    return tuple(map(value.parts.get, ("random", "strides")))
