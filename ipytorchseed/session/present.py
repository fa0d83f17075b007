"""The current state of the kernel, recorded or inspected, to plan a replay."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from ipytorchseed.fingerprint import Budget, same
from ipytorchseed.fingerprint.packing import Packed
from ipytorchseed.fingerprint.value import PENDING, Fingerprint, forms
from ipytorchseed.introspection.values import imported
from ipytorchseed.ledger.records import FileRead, Run
from ipytorchseed.reads.dependencies import look_up
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.reads.patches import place_of
from ipytorchseed.reads.writers import written_to
from ipytorchseed.session.files import FileWatch
from ipytorchseed.session.kept import is_seen, tied
from ipytorchseed.session.named_files import mark_of
from ipytorchseed.session.session import Session
from ipytorchseed.session.settings import Settings
from ipytorchseed.session.states import LedgerStates

# The number of runs in which to search for the run that created a value.
_LOOKED_BACK = 200

# The time limit for reading a file to find out whether its content has changed, in seconds.
_IN_FILES = 1.0


class RecordedKernel(LedgerStates):
    """The state of the kernel according to recorded runs, without inspecting it.

    Args:
        session: The session of this kernel.
        target: The run to reproduce.

    Attributes:
        kernel: The unique name of the kernel.
    """

    def __init__(self, session: Session, target: Run) -> None:
        super().__init__(session.ledger)
        self.kernel = session.kernel
        self._session = session
        self._target = target
        self._settings = Settings()

    @cached_property
    def _all(self) -> list[Run]:
        """The latest runs; if the target is older, also the target and runs before it."""
        target, number = self._target, self._target.id or 0
        found = [*self._ledger.runs(target.notebook, limit=_LOOKED_BACK)]
        if found and number < (found[-1].id or 0):
            found += self._ledger.runs(target.notebook, before_id=number + 1, limit=_LOOKED_BACK)
        return found

    @cached_property
    def _mine(self) -> list[Run]:
        return [run for run in self._all if run.kernel == self.kernel]

    @cached_property
    def _values(self) -> dict[str, Fingerprint]:
        known: dict[str, Fingerprint] = {}
        for run in self._mine:
            known = {**run.reads, **run.writes, **known}
        return known

    def settings_now(self, run: Run) -> Mapping[str, Any]:
        """Return the current settings, versions and hardware that may affect a run."""
        return self._settings.read(run.source, run.packages)

    def latest(self, run: Run) -> list[Run]:  # noqa: ARG002 -- as ``Present``
        """Return the latest runs, newest first."""
        return self._all

    def last(self, name: str) -> Fingerprint | None:
        """Return the fingerprint of a variable's current value; None if unknown."""
        return self._values.get(name)

    def is_bound(self, name: str) -> bool:
        """Return whether a name is currently set, or is a builtin."""
        if name in self._values or hasattr(builtins, name):
            return True
        return any(name in self.effects(run).writes for run in self._mine)

    def effects(self, run: Run) -> Effects:
        """Return the effects of a run's code."""
        return self._session.effects_of(run.source)

    def sends_to(self, run: Run, opened: Collection[str]) -> Sequence[str]:
        """Return the variables with open files to which a run's code writes.

        Args:
            run: The run.
            opened: Variables with open files or connections.
        """
        return written_to(run.source, self.effects(run), opened)

    def makers(self, name: str, digest: str) -> list[Run]:
        """Return the successful runs after which a variable had this digest, newest first.

        Cells with only our magics are left out: ``%replay --undo`` restores values that other cells
        created.
        """
        setters = (run for run in self._all if name in run.writes and run.status == "ok")
        found = (run for run in setters if self._left(run, name) == digest)
        return [run for run in found if not is_inspection(run.source)]

    def _left(self, run: Run, name: str) -> str:
        """Return a variable's digest after a run, even if a GPU was still computing it."""
        made = run.writes[name]
        if made.kind != PENDING:
            return made.digest
        for later in self._all[: self._all.index(run)][::-1]:
            if later.kernel == run.kernel and name in later.reads:
                return later.reads[name].digest
            if name in later.writes:
                break
        return ""

    def setters(self, name: str, reader: Run | None) -> Iterator[Run]:
        """Yield the successful runs that may have set a name, newest first.

        Args:
            name: The name.
            reader: Only runs before this run, in the same kernel. None for all runs in this kernel.
        """
        earlier = self._earlier(reader)
        return (run for run in earlier if run.status == "ok" and name in self.effects(run).writes)

    def users(self, name: str, reader: Run | None) -> list[Run]:
        """Return the runs that read a name since it was last set; see ``setters``."""
        earlier = self._earlier(reader)
        since = takewhile(lambda run: name not in self.effects(run).writes, earlier)
        return [run for run in since if name in run.reads]

    def _earlier(self, reader: Run | None) -> Iterator[Run]:
        """Yield the runs before ``reader``, newest first; see ``setters``."""
        kernel = self.kernel if reader is None else reader.kernel
        for run in self._all:
            if run.kernel == kernel and (reader is None or (run.id or 0) < (reader.id or 0)):
                yield run

    def writers(self, path: str, reader: Run) -> Iterator[Run]:
        """Yield the runs before ``reader`` that wrote a file, in any kernel, newest first."""
        wrote = (run for run in self._all if path in run.outside.wrote)
        earlier = (run for run in wrote if (run.id or 0) < (reader.id or 0))
        return (run for run in earlier if not is_inspection(run.source))

    def met_before(self, run: Run) -> set[str]:
        """Return the packages that earlier runs in this kernel used."""
        earlier = (each for each in self._mine if (each.id or 0) < (run.id or 0))
        return {package for each in earlier if each.status == "ok" for package in each.packages}

    def is_file(self, path: str) -> bool:
        """Return whether a file exists."""
        return Path(path).is_file()

    def pruned(self, digests: Iterable[str]) -> set[str]:
        """Return the digests whose states are no longer in the ledger."""
        wanted = {*digests}
        return wanted - self._ledger.states(wanted).keys()

    def changed_files(self, run: Run) -> list[str]:
        """Return the paths of files that a run read and that certainly have changed."""
        touched = [file for file in [*run.files, *run.loaded.values()] if _is_touched(file)]
        watch, any_touch = FileWatch(), run.may_read_file_times
        return [
            file.path
            for file in touched
            if any_touch or file.same(watch.look(file.path, _IN_FILES)) is False
        ]


class LiveKernel(RecordedKernel):
    """The state of the kernel by inspection, which includes unrecorded changes.

    Args:
        session: The session of this kernel.
        target: The run to reproduce.
        namespace: The user's namespace.
        seconds: The time limit for inspecting variables.
    """

    def __init__(
        self, session: Session, target: Run, namespace: Mapping[str, Any], seconds: float = 20.0
    ) -> None:
        super().__init__(session, target)
        self._namespace = namespace
        self._budget = Budget(seconds)
        self._looks: dict[str, Fingerprint | None] = {}

    def last(self, name: str) -> Fingerprint | None:
        """Return the fingerprint of a variable's current value.

        Return None if there is no such variable, or if it is a tensor with an autograd graph, which
        must be computed again.
        """
        if name not in self._looks:
            self._looks[name] = self._look(name)
        return self._looks[name]

    def is_bound(self, name: str) -> bool:
        """Return whether a name is currently set, or is a builtin."""
        return name in self._namespace or hasattr(builtins, name)

    def kept_values(self, run: Run) -> dict[str, Any]:
        """Return copies of a run's inputs that have changed since and were kept in memory."""
        found = {}
        apart = run.reads.keys() - tied(run.reads)
        for name, value in run.reads.items():
            now = self.last(name)
            there = now is not None and same(now, value) and forms(now) == forms(value)
            if there or name not in apart or not is_seen(value):
                continue
            packed = self._session.kept.get(value.digest)
            if isinstance(packed, Packed):
                with suppress(Exception):  # for example, a class no longer exists
                    made = packed.unpack()
                    look = self._session.variables.look(made, self._budget)
                    if same(look, value) and forms(look) == forms(value):
                        found[name] = made
        return found

    def originals_of(self, run: Run, later: Run) -> dict[str, Any]:
        """Return the originals of attributes of packages that were patched after a run.

        Args:
            run: The run.
            later: A later run. Only attributes that it read are included.
        """
        if run.kernel != self.kernel:
            return {}
        held = self._session.originals
        return {name: held[name] for name in (held.keys() & later.reads.keys()) - run.reads.keys()}

    def kept_files(self, run: Run) -> dict[str, bytes | None]:
        """Return the stored contents of files that a run read, by path.

        Contents of large files, and of files that an earlier kernel read, are not stored.

        Returns:
            The contents; None for a file that did not exist.
        """
        contents: dict[str, bytes | None] = {}
        for file in run.files:
            content = self._session.kept.get(file.digest)
            if file.size < 0:
                contents[file.path] = None
            elif file.exact and not file.is_folder and isinstance(content, bytes):
                contents[file.path] = content
        return contents

    def _look(self, name: str) -> Fingerprint | None:
        place = None if name in self._namespace else place_of(name)
        with suppress(KeyError):
            value = look_up(place or ("", name), self._namespace)
            tensor = imported("torch", "Tensor")
            if type(value) is not tensor or value.grad_fn is None:  # a backward pass frees graphs
                return self._session.variables.look(value, self._budget)
        return None


def _is_touched(file: FileRead) -> bool:
    """Return whether a file was written to since it was read."""
    mark = mark_of(file.path)
    return mark[1:] != (file.size, file.modified) if mark else file.size >= 0
