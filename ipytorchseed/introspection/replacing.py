"""Replaces attributes of objects temporarily."""

from __future__ import annotations

from typing import Any, Final, Self

_INHERITED: Final = object()


class Replacements:
    """Replaced attributes, restored later unless other code replaced them."""

    def __init__(self) -> None:
        self._all: list[tuple[Any, str, Any, Any]] = []

    def __len__(self) -> int:
        return len(self._all)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.put_back()

    def put(self, holder: Any, name: str, ours: Any) -> None:
        """Replace an attribute.

        Args:
            holder: The object that has the attribute, itself or from its class.
            name: The name of the attribute.
            ours: The temporary value.

        Raises:
            AttributeError: The attribute cannot be set.
        """
        before = getattr(holder, "__dict__", {}).get(name, _INHERITED)
        setattr(holder, name, ours)
        self._all.append((holder, name, ours, before))

    def put_back(self) -> None:
        """Restore the attributes in reverse order."""
        while self._all:
            holder, name, ours, before = self._all.pop()
            if getattr(holder, "__dict__", {}).get(name) is not ours:
                continue
            if before is _INHERITED:
                delattr(holder, name)
            else:
                setattr(holder, name, before)
