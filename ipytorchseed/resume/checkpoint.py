"""``Checkpoint``: the mapping that ``train`` fills and resumes from."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def is_stateful(value: object) -> bool:
    """Return whether a value has ``state_dict`` and ``load_state_dict``."""
    kind = type(value)
    return callable(getattr(kind, "state_dict", None)) and callable(
        getattr(kind, "load_state_dict", None)
    )


class Checkpoint(UserDict[str, Any]):
    """A checkpoint: a mapping that is saved when ``train`` returns.

    An object with ``state_dict`` and ``load_state_dict`` is loaded when it is assigned, if the
    checkpoint contains its state: ``state["model"] = model``. Such an object is saved by its
    ``state_dict``, and any other object directly. The mapping is empty when training starts from
    scratch.

    Args:
        folder: A folder for files that ``train`` writes itself.
        held: The content that was saved; None when training starts from scratch.
    """

    def __init__(self, folder: Path, held: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.folder = folder
        self.data = dict(held or {})
        self._held = {*self.data}

    def __missing__(self, name: str) -> Any:  # always raises
        msg = f"the checkpoint holds no {name!r}; it holds: {', '.join(self) or 'nothing yet'}"
        raise KeyError(msg)

    def __setitem__(self, name: str, value: Any) -> None:  # any value to save
        if is_stateful(value) and name in self._held:
            value.load_state_dict(self.data[name])
        self._held.discard(name)
        self.data[name] = value

    def __delitem__(self, name: str) -> None:
        self[name]  # raises the error that lists existing names
        self._held.discard(name)
        del self.data[name]

    def to_save(self) -> dict[str, Any]:
        """Return the content to save: without loaded entries that were not assigned."""
        return {
            name: value.state_dict() if is_stateful(value) else value
            for name, value in self.data.items()
            if name not in self._held
        }
