"""A flag: a process-wide setting that changes numbers, or whether they repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from ipytorchseed.determinism.machine import Machine


class _Any:
    """Any value is fine, as long as it is the same in each run."""

    def __repr__(self) -> str:
        return "any"


ANY: Final = _Any()


class Unreadable(Struct, frozen=True):
    """The value of a flag whose getter raised.

    Attributes:
        reason: The first line of torch's message.
    """

    reason: str

    @classmethod
    def because(cls, error: Exception) -> Unreadable:
        """Return the value of a flag whose getter raised."""
        return cls(str(error).partition("\n")[0] or type(error).__name__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unreadable)

    def __hash__(self) -> int:
        return hash(Unreadable)


class Flag(Struct, frozen=True, eq=False):
    """A row of the table of flags.

    Attributes:
        name: As torch spells it, ``torch.backends.cudnn.benchmark``, or the variable's name.
        get: Reads the value without starting a device. It may raise; see ``read``.
        why: One sentence: what the flag does to numbers or their repeatability.
        source: Where that sentence comes from.
        set: Changes it; None where it cannot be changed, or only together with others.
        wanted: The value that repeatability needs on a machine, or ANY.
        late: Why it is too late to change it in this process, or None where it is not.
        risk: What may happen while it is not as wanted, an item of what can still change results.
        remedy: What to do about it where ``%deterministic on`` cannot.
        fits: Tells whether a value is as good as the wanted one; equality, unless said otherwise.
        applies: Tells whether the flag acts on anything on this machine.
        begin: Returns what an environment variable has to be when a repeatable process starts,
            given the machine and the number of threads; by default what is wanted.
        statement: By which one sets it, with ``{}`` for its value, where it is no attribute of its
            name; empty where no statement does.
        follows: Another flag that sets this one too, and is the one to name.
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
    begin: Callable[[Machine, int], object] | None = None
    statement: str | None = None
    follows: str = ""

    def read(self) -> object:
        """Return the present value, or ``Unreadable`` where the getter raises."""
        try:
            return self.get()
        except Exception as error:  # noqa: BLE001 -- a getter of torch's may raise anything
            return Unreadable.because(error)

    def statement_for(self, value: Any) -> str:  # a JSON value
        """Return the statement that sets it to a value, as ``plain`` returns it."""
        if self.set is None or self.statement is None:
            return f"{self.name} = {value!r}" if self.set else ""
        is_type = str(value).startswith("torch.")
        return self.statement.format(value if is_type else repr(value))


# Types of values that JSON has.
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
