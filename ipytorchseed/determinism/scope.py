"""``deterministic``: seeds and sets flags for a block, and restores every flag."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, Self, TypeVar

from ipytorchseed.determinism import alerts
from ipytorchseed.determinism.alerts import Alert, AlertCollector, PickPlace
from ipytorchseed.determinism.flag import ANY, Flag
from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.determinism.machine import Machine
from ipytorchseed.determinism.table import FLAGS, read_flags, restore_flags
from ipytorchseed.errors import ScopeError
from ipytorchseed.rng import snapshot as states
from ipytorchseed.rng.seeds import check_seed, tell_seed
from ipytorchseed.rng.table import check_folder, seed_all

Function = TypeVar("Function", bound=Callable[..., Any])


class NondeterministicWarning(UserWarning):
    """Operations without a deterministic algorithm ran in a block that only warns."""


def wanted_flags(*, warn: bool = False, cudnn: bool = True) -> list[tuple[Flag, object]]:
    """Return the flags to set for repeatability on this machine, with their values.

    Args:
        warn: Only warn about operations without a deterministic algorithm.
        cudnn: Leave cuDNN on; False disables it.
    """
    machine = Machine.here()
    special = {"torch.use_deterministic_algorithms.warn_only": warn}
    if not cudnn:
        special["torch.backends.cudnn.enabled"] = False
    wishes = []
    for flag in FLAGS:
        wish = special.get(flag.name, flag.wanted(machine))
        if flag.set is not None and wish is not ANY and flag.late(machine) is None:
            wishes.append((flag, wish))
    return wishes


class deterministic:  # noqa: N801 -- used as a verb, like torch.no_grad
    """Make a block repeatable: seed it, set the flags it needs, restore every flag.

    Use it as a context manager or as a decorator of functions. It may be nested, and each use
    restores exactly what it found, also after errors and interrupts.

    Args:
        seed: The seed for every source, an integer from 0 to 2**32-1; None does not seed.
        warn: If True, operations without a deterministic algorithm do not raise. They are listed in
            ``alerts`` and in one ``NondeterministicWarning`` at the end.
        isolate: If True, every source is restored too, so draws in the block have no effect
            outside.
        cudnn: False disables cuDNN in the block.

    Attributes:
        alerts: Operations that ran although they may not repeat, if ``warn`` is set.
        changes: The flags that were set: name, value before, value within.
        stuck: Names of flags that torch could not restore; usually empty, except for a thread
            count that can be set only once, or a mode that was entered and not left.

    Raises:
        SeedError: ``seed`` is not a valid seed; nothing was changed.
        TypeError: ``seed`` is a function, because a decorator was written without parentheses.
        RuntimeError: Raised by torch if an operation has no deterministic algorithm. A note names
            the operation, the line and what to use instead.

    Example:
        >>> with its.deterministic(42):
        ...     loss = train(model)
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        warn: bool = False,
        isolate: bool = False,
        cudnn: bool = True,
    ) -> None:
        if callable(seed):
            raise TypeError(
                "deterministic takes a seed, not a function: decorate with @its.deterministic()"
            )
        self.seed = None if seed is None else check_seed(seed)
        self.warn = warn
        self.isolate = isolate
        self.cudnn = cudnn
        self.alerts: list[Alert] = []
        self.changes: list[tuple[str, object, object]] = []
        self.stuck: list[str] = []
        self.pick: PickPlace | None = None
        self.forward: Callable[[], int | None] = lambda: None
        self._here: PickPlace = lambda _: None
        self._exits: ExitStack | None = None  # what `end` does
        self._collector: AlertCollector | None = None

    def begin(self) -> None:
        """Enter without a ``with`` block; ``end`` must follow.

        Raises:
            ScopeError: The block has already begun.
            SourceError: torch cannot be imported, because the working folder was removed.
        """
        if self._exits is not None:
            msg = "this deterministic block has already begun; create another one to nest it"
            raise ScopeError(msg)
        # torch's flags exist only once it is imported, and its import needs the working folder.
        check_folder("torch._inductor.config")
        try:
            with held_interrupts():  # torch cannot be imported again after an interrupted import
                with suppress(ImportError):
                    importlib.import_module("torch._inductor.config")
                self._exits = ExitStack()
                self._begin(self._exits)
        except BaseException:
            self.end()
            raise

    def _begin(self, exits: ExitStack) -> None:
        if self.isolate:
            exits.callback(states.restore, states.snapshot())
        before = read_flags()
        self.alerts, self.changes, self.stuck = [], [], []
        exits.callback(lambda: self.stuck.extend(restore_flags(before)))
        for flag, wish in wanted_flags(warn=self.warn, cudnn=self.cudnn):
            if not flag.fits(before[flag.name], wish):
                self.changes.append((flag.name, before[flag.name], wish))
            if flag.set is not None and not flag.fits(flag.read(), wish):
                flag.set(wish)
        if self.warn:
            self._collector = collector = AlertCollector(self.pick or self._here, self.forward)
            collector.start()
            exits.callback(lambda: self.alerts.extend(collector.take()))
            exits.callback(collector.stop)
        if self.seed is not None:
            seed_all(self.seed)

    def end(self) -> None:
        """Restore every flag, and with ``isolate`` every source.

        Further calls do nothing. An interrupt is held until everything is restored.
        """
        with held_interrupts():
            exits, self._exits = self._exits, None
            if exits is not None:
                exits.close()

    def take_alerts(self) -> list[Alert]:
        """Return the alerts so far, and forget them; the block continues."""
        return self._collector.take() if self._collector is not None else []

    def __enter__(self) -> Self:
        caller = sys._getframe(1)  # noqa: SLF001 -- documented
        self._here = self.pick or alerts.innermost_in(caller.f_code.co_filename)
        self.begin()
        if self.seed is not None:
            tell_seed(self.seed, "block")
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.end()
        if error is not None:
            alerts.note_alert(error, self._here)
        if self.alerts:
            listed = "; ".join(str(alert) for alert in self.alerts)
            warnings.warn(
                f"these operations may not repeat: {listed}", NondeterministicWarning, stacklevel=2
            )

    def __call__(self, function: Function) -> Function:
        """Decorate ``function``: each call runs in a separate block.

        Raises:
            TypeError: ``function`` is a generator or async function, whose body runs after the
                call, or a class, which would no longer be one.
        """
        kinds = inspect.isgeneratorfunction, inspect.isasyncgenfunction, inspect.iscoroutinefunction
        if inspect.isclass(function) or any(is_kind(function) for is_kind in kinds):
            name = getattr(function, "__qualname__", function)
            raise TypeError(
                f"{name} is a class, or a function whose body runs after the call that this would"
                " make deterministic. Use `with its.deterministic():` inside it"
            )
        home = getattr(inspect.unwrap(function), "__code__", None)

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:  # those of the function
            made = deterministic(self.seed, warn=self.warn, isolate=self.isolate, cudnn=self.cudnn)
            made.pick = alerts.innermost_in(home.co_filename) if home else None
            with made:
                return function(*args, **kwargs)

        return called  # type: ignore[return-value]
