"""``its.ranks.watch``: each rank writes its states to a file, step by step."""

from __future__ import annotations

import os
import time
import warnings
import weakref
from contextlib import AbstractContextManager, suppress
from multiprocessing import util
from pathlib import Path
from typing import Any

import msgspec

from ipytorchseed.errors import RanksError, in_brief
from ipytorchseed.ranks import looking
from ipytorchseed.ranks.callers import Callers
from ipytorchseed.ranks.looking import FOLDER, Look, Mark, Rank, unwrap

# Lines are buffered for at most this many seconds. A killed process loses only these lines.
_SECONDS = 1.0

_current: Watch | None = None


def watch(
    model: Any, every: int = 100, *, folder: str | os.PathLike[str] = FOLDER, **named: Any
) -> Watch:
    """Record the states of this rank to a file from now on.

    Call this function in each rank, before the first step. Ranks do not communicate, so it cannot
    deadlock. Each step of the optimizer records the sources that changed and the lines that drew.
    Every ``every`` steps, digests of parameters and buffers are recorded too, and the settings. An
    internal error ends the recording with a warning; the training run continues.

    Args:
        model: The model, a ``torch.nn.Module``. If it has a DistributedDataParallel wrapper, pass
            the wrapper, so that broadcast buffers are recognized.
        every: The number of optimizer steps between two digests of the parameters. If there are
            several optimizers, only steps of the first one that updates the model are counted.
        folder: The folder for the files, one for each rank. Files of an earlier watch are
            overwritten.
        named: Other objects to digest every ``every`` steps: a loader, a sampler, an optimizer,
            generators.

    Returns:
        The watch. ``stop()`` ends it, or the end of its ``with`` block, or the end of the process.

    Raises:
        RanksError: ``model`` is not a module, ``every`` is not a positive integer, or the folder
            is not writable.

    Example:
        >>> its.ranks.watch(model, every=100)
    """
    global _current  # noqa: PLW0603 -- a process has at most one watch
    if type(every) is not int or every < 1:
        raise RanksError(f"`every` must be a number of steps, at least 1, not {every!r}")
    if not hasattr(unwrap(model), "parameters"):
        raise RanksError(f"the watched model must be a torch.nn.Module, not {type(model).__name__}")
    if _current is not None:
        _current.stop()
    _current = Watch(model, every, Path(folder), named)
    return _current


class Watch(AbstractContextManager["Watch"]):
    """The recording of this rank's states to a file; see ``watch``.

    Attributes:
        path: The file that is written.
        step: The number of optimizer steps so far.
    """

    def __init__(self, model: Any, every: int, folder: Path, named: dict[str, Any]) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        who = looking.describe(model, every)
        self.path = folder / f"rank-{who.rank}.jsonl"
        self.step = 0
        self._pid = os.getpid()
        self._every = every
        self._lines: list[bytes] = []
        self._written = time.monotonic()
        self._clock: weakref.ref[Any] | None = None
        self._marks: dict[str, Mark] = {}
        self._sites: Any = None
        self._settings: dict[str, Any] = {}
        self._parameters = {id(each) for each in unwrap(model).parameters()}
        self._looker = looking.Looker(weakref.ref(model), named)
        self._callers = Callers()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.is_symlink():
                raise RanksError(f"{self.path} is a link: remove it, or name another: folder=…")
            self._file = self.path.open("wb", buffering=0)
        except OSError as error:
            msg = f"{self.path} cannot be written to ({error.strerror}); name another: folder=…"
            raise RanksError(msg) from None
        self._note(who)
        self._look()
        self._write()
        self._callers.start()
        self._hook = register_optimizer_step_post_hook(self._stepped)
        # Runs in children of multiprocessing too, unlike `atexit` before Python 3.13.
        self._end = util.Finalize(None, self._finish, exitpriority=10)
        util.register_after_fork(self, Watch._stop_in_child)

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Record a last look and stop. Further calls do nothing."""
        if not self._file.closed:
            with suppress(Exception):  # the training run has succeeded, so no error may be raised
                self._note(Look(self.step, values=self._looker.values()))
            self._finish()
            self._end.cancel()

    def _finish(self) -> None:
        """Record the last step, write the buffered lines, and stop."""
        if not self._file.closed:
            self._note(Look(self.step))
            self._write()
            self._stop_in_child()

    def _stop_in_child(self) -> None:
        """Stop without writing. In a forked child, the file belongs to the parent."""
        self._hook.remove()
        self._callers.stop()
        self._lines.clear()
        self._file.close()

    def _stepped(self, optimizer: Any, args: object, kwargs: object) -> None:  # noqa: ARG002 -- torch's
        """Record a look after a step of an optimizer."""
        try:
            if self._is_clock(optimizer):
                self.step += 1
                whole = self.step % self._every == 0
                self._look(whole=whole)
                if whole or time.monotonic() - self._written > _SECONDS:
                    self._write()
        except Exception as error:  # noqa: BLE001 -- the user's training goes on
            self._write()
            self._stop_in_child()
            warnings.warn(f"ranks are no longer watched: {in_brief(error)}", stacklevel=2)

    def _is_clock(self, optimizer: Any) -> bool:
        """Return whether this optimizer's steps are counted.

        Only the first optimizer that updated parameters of the model counts.
        """
        if self._clock is None or self._clock() is None:
            updated = (id(each) for group in optimizer.param_groups for each in group["params"])
            if self._parameters.isdisjoint(updated):
                return False
            self._clock = weakref.ref(optimizer)
        return self._clock() is optimizer

    def _look(self, *, whole: bool = True) -> None:
        """Record the changes since the previous step.

        Args:
            whole: Whether to record everything, not only the sources.
        """
        look = self._looker.look(self.step, whole=whole)
        moved = {name: each for name, each in look.marks.items() if self._marks.get(name) != each}
        self._marks, look.marks = look.marks, moved
        look.states = {name: look.states[name] for name in moved} if whole else {}
        if look.settings == self._settings:
            look.settings = None
        self._settings = look.settings or self._settings
        sites = self._callers.take()
        look.sites = None if sites == self._sites else sites
        self._sites = sites
        if whole or moved or look.sites is not None:
            self._note(look)

    def _note(self, record: Rank | Look) -> None:
        self._lines.append(msgspec.json.encode(record) + b"\n")

    def _write(self) -> None:
        lines, self._lines, self._written = b"".join(self._lines), [], time.monotonic()
        if lines and os.getpid() == self._pid:  # not in a child of `os.fork`
            self._file.write(lines)
