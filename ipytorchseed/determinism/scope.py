"""``deterministic``: seeds and sets flags for a block, and restores every flag after it."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self, TypeVar

from ipytorchseed.determinism.alerts import (
    Alert,
    AlertCollector,
    PickPlace,
    innermost_in,
    note_alert,
)
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
    """Operations without deterministic algorithm ran in a block that only warns of them."""


def wanted_flags(*, warn: bool = False, cudnn: bool = True) -> list[tuple[Flag, object]]:
    """List the flags to set for repeatability on this machine, with their values.

    Args:
        warn: Let operations without deterministic algorithm pass with a warning.
        cudnn: Leave cuDNN as it is; False switches it off.
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
    """Make a block repeatable: seed it, set the flags that it needs, put every flag back.

    Use it as a context manager or as a decorator of functions, also of ``async`` ones. It may be
    nested, and each use restores exactly what it found, also after errors and interrupts.

    Args:
        seed: Seed every source with this first, an integer from 0 to 2**32-1; None leaves them.
        warn: Operations without deterministic algorithm run, and are listed in ``alerts`` and in
            one ``NondeterministicWarning`` at the end, instead of raising.
        isolate: Put every source back as well, so that nothing outside sees that the block drew.
        cudnn: False switches cuDNN off for the block.

    Attributes:
        alerts: Operations that ran though they may not repeat; filled where ``warn`` is set.
        changes: The flags that were set: name, value before, value within.
        stuck: Names of flags that torch would not set back; empty but for a thread count that
            can be set once, or a mode that was entered and not left.

    Raises:
        SeedError: ``seed`` cannot be a seed; nothing was changed.
        TypeError: It was given a function, as by a decorator without parentheses.
        RuntimeError: By torch, where an operation has no deterministic algorithm. A note names
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
        _refuse_function(seed)
        self.seed = None if seed is None else check_seed(seed)
        self.warn = warn
        self.isolate = isolate
        self.cudnn = cudnn
        self.alerts: list[Alert] = []
        self.changes: list[tuple[str, object, object]] = []
        self.stuck: list[str] = []
        self.pick: PickPlace | None = None
        self.forward: Callable[[], int | None] = lambda: None
        self._here: PickPlace | None = None
        self._before: Mapping[str, object] | None = None
        self._snapshot: states.Snapshot | None = None
        self._collector: AlertCollector | None = None

    def begin(self) -> None:
        """Enter by hand, where a ``with`` block does not fit; ``end`` must follow.

        Raises:
            ScopeError: It was begun already.
            SourceError: torch cannot be imported here: the working folder was removed.
        """
        if self._before is not None:
            msg = "this deterministic block has begun already; make another one to nest it"
            raise ScopeError(msg)
        # Its flags are only there, to be kept, once it is imported; it asks for the working folder.
        check_folder("torch._inductor.config")
        try:
            with held_interrupts():  # what is imported in part, torch cannot import again
                with suppress(ImportError):
                    importlib.import_module("torch._inductor.config")
                self._begin()
        except BaseException:
            self.end()
            raise

    def _begin(self) -> None:
        self._snapshot = states.snapshot() if self.isolate else None
        self._before = read_flags()
        self.alerts, self.changes, self.stuck = [], [], []
        for flag, wish in wanted_flags(warn=self.warn, cudnn=self.cudnn):
            before = self._before[flag.name]
            if not flag.fits(before, wish):
                self.changes.append((flag.name, before, wish))
            if flag.set is not None and not flag.fits(flag.read(), wish):
                flag.set(wish)
        if self.warn:
            pick = self.pick or self._here or (lambda _: None)
            self._collector = AlertCollector(pick, self.forward)
            self._collector.start()
        if self.seed is not None:
            seed_all(self.seed)

    def end(self) -> None:
        """Put back every flag, and with ``isolate`` every source. Doing it twice does nothing.

        An interrupt that arrives meanwhile is held until all is done.
        """
        with held_interrupts():
            self._end()

    def _end(self) -> None:
        before, self._before = self._before, None
        if before is None:
            return
        try:
            if self._collector is not None:
                self._collector.stop()
                self.alerts = self._collector.take()
                self._collector = None
        finally:
            try:
                self.stuck = restore_flags(before)
            finally:
                if self._snapshot is not None:
                    states.restore(self._snapshot)
                    self._snapshot = None

    def take_alerts(self) -> list[Alert]:
        """Return the alerts so far while the block goes on, and forget them."""
        return self._collector.take() if self._collector is not None else []

    def __enter__(self) -> Self:
        self._here = innermost_in(sys._getframe(1).f_code.co_filename)  # noqa: SLF001 -- the caller
        self.begin()
        if self.seed is not None:
            tell_seed(self.seed, "block")
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.end()
        pick = self.pick or self._here
        if error is not None and pick is not None:
            note_alert(error, pick)
        if self.alerts:
            listed = "; ".join(str(alert) for alert in self.alerts)
            warnings.warn(
                f"these operations may not repeat: {listed}", NondeterministicWarning, stacklevel=2
            )

    def __call__(self, function: Function) -> Function:
        """Decorate ``function``: each call runs in a block of its own.

        Raises:
            TypeError: ``function`` is a generator function, whose body runs after the call, or a
                class, which would be none any more.
        """
        if inspect.isclass(function):
            msg = f"{function.__qualname__} is a class: decorate its methods"
            raise TypeError(msg)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            name = getattr(function, "__qualname__", function)
            raise TypeError(
                f"{name} is a generator function: its body runs after the call that this would"
                " make deterministic. Use `with its.deterministic():` inside it"
            )
        home = getattr(inspect.unwrap(function), "__code__", None)

        def block() -> deterministic:
            made = deterministic(self.seed, warn=self.warn, isolate=self.isolate, cudnn=self.cudnn)
            made.pick = innermost_in(home.co_filename) if home else None
            return made

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: Any, **kwargs: Any) -> Any:  # the function's own
                with block():
                    return await function(*args, **kwargs)

            return awaited  # type: ignore[return-value]

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:  # the function's own
            with block():
                return function(*args, **kwargs)

        return called  # type: ignore[return-value]


def _refuse_function(seed: object) -> None:
    if callable(seed):
        msg = "deterministic takes a seed, not a function: decorate with @its.deterministic()"
        raise TypeError(msg)
