"""A flag: a process-wide setting that changes numbers, or whether they repeat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import Struct

from ipytorchseed.determinism.machine import Machine


class _Any:
    """The wanted value of a flag that only needs the same value in each run."""

    def __repr__(self) -> str:
        return "any"


ANY: Final = _Any()


@dataclass(frozen=True, slots=True)  # a Struct of msgspec compares all fields
class Unreadable:
    """The value of a flag whose getter raised.

    Attributes:
        reason: The first line of torch's message.
    """

    reason: str = field(compare=False)


class Flag(Struct, frozen=True, eq=False):
    """A row of the table of flags.

    Attributes:
        name: The flag's name in torch, such as ``torch.backends.cudnn.benchmark``, or the name of
            an environment variable.
        get: Reads the value without starting a device. It may raise; see ``read``.
        why: One sentence: what the flag does to numbers or their repeatability.
        source: The address of the documentation for that sentence.
        set: Sets the value; None if the flag cannot be set, or only together with other flags.
        wanted: Returns the value that repeatability needs on a machine, or ANY.
        late: Returns why it is too late to change the flag in this process, or None.
        risk: What may happen if the flag does not have the wanted value.
        remedy: What the user can do if ``%deterministic on`` cannot set the flag.
        fits: Returns whether a value is as good as the wanted one; by default, whether both are
            equal.
        applies: Returns whether the flag affects anything on this machine.
        statement: The statement that sets the flag, with ``{}`` for the value. None if it is an
            assignment to ``name``; empty if no single statement sets the flag.
        changes_with: The flag that usually changes together with this one. If both changed, only
            that flag is reported.
    """

    name: str
    get: Callable[[], object]
    why: str
    source: str
    set: Callable[[Any], object] | None = None
    wanted: Callable[[Machine], object] = lambda _: ANY
    late: Callable[[Machine], str | None] = lambda _: None
    risk: str = ""
    remedy: str = ""
    fits: Callable[[object, object], bool] = lambda value, wish: value == wish
    applies: Callable[[Machine], bool] = lambda _: True
    statement: str | None = None
    changes_with: str = ""

    def read(self) -> object:
        """Return the current value, or ``Unreadable`` if the getter raises."""
        try:
            return self.get()
        except Exception as error:  # noqa: BLE001 -- a getter of torch's may raise anything
            return Unreadable(str(error).partition("\n")[0] or type(error).__name__)

    def statement_for(self, value: Any) -> str:  # a JSON value
        """Return the statement that sets the flag to a value from ``plain``."""
        if self.set is None or self.statement is None:
            return f"{self.name} = {value!r}" if self.set else ""
        is_type = str(value).startswith("torch.")
        return self.statement.format(value if is_type else repr(value))


# Types that JSON can represent.
PLAIN = frozenset({bool, int, float, str, type(None)})


def plain(value: object) -> object:
    """Return a flag's value for JSON: types and devices as torch writes them."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if value is ANY or value is None or isinstance(value, Unreadable):
        return None
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return str(value)
