"""What ``train`` is given: the checkpoint that it fills, and from which it goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def is_stateful(value: object) -> bool:
    """Tell whether a value has torch's ``Stateful`` protocol."""
    kind = type(value)
    return callable(getattr(kind, "state_dict", None)) and callable(
        getattr(kind, "load_state_dict", None)
    )


class Checkpoint(MutableMapping[str, Any]):
    """A checkpoint: a mapping that is saved when ``train`` returns.

    An object with ``state_dict`` and ``load_state_dict`` is saved by what the one returns, and is
    put where the checkpoint has it as soon as it is assigned: ``state["model"] = model``. Anything
    else is saved as it is. It is empty, and so false, where training begins anew.

    Args:
        folder: A folder for checkpoints that ``train`` writes itself.
        held: What was saved; None where training begins.
    """

    def __init__(self, folder: Path, held: Mapping[str, Any] | None = None) -> None:
        self.folder = folder
        self.resumed = held is not None
        self._held = dict(held or {})
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 -- whatever was saved
        known = {**self._held, **self._values}
        if name not in known:
            msg = f"the checkpoint holds no {name!r}; it holds: {', '.join(known) or 'nothing yet'}"
            raise KeyError(msg)
        return known[name]

    def __setitem__(self, name: str, value: Any) -> None:  # noqa: ANN401 -- whatever is to be saved
        if is_stateful(value) and name in self._held and name not in self._values:
            value.load_state_dict(self._held[name])
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        self[name]  # says what there is where it is not
        self._held.pop(name, None)
        self._values.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter({**self._held, **self._values})

    def __len__(self) -> int:
        return len({**self._held, **self._values})

    def to_save(self) -> dict[str, Any]:
        """Return what goes into the file."""
        return {
            name: value.state_dict() if is_stateful(value) else value
            for name, value in self._values.items()
        }
