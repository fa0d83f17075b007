"""What a checkpoint holds, to ask whether something that did not come back is in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_64_hexdigest

from ipytorchseed.resume.leaves import flatten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipytorchseed.resume.leaves import Thing


class Saved:
    """What is in a checkpoint.

    Args:
        content: Of its file.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._leaves = dict(flatten(content))
        self._blobs = list(_blobs(content))

    def has(self, name: str, thing: Thing, part: list[str]) -> bool | None:
        """Tell whether it has a part of a thing; None where that is not known.

        Args:
            name: The thing's; where several of its kind were saved, it tells which is meant.
            thing: What is looked for.
            part: Names of its leaves.
        """
        if all(leaf.shape is None for leaf in self._leaves.values()):
            return None  # it is in a file of the user's own
        part = [each for each in part if each in thing.leaves]
        ends = [path for path in self._leaves if f".{path}".endswith(f".{part[0]}")] if part else []
        places = [path[: len(path) - len(part[0])] for path in ends]
        places = [place for place in places if all(place + each in self._leaves for each in part)]
        own = [place for place in places if place == f"{name}."] or places
        if any(
            all(self._leaves[place + each] == thing.leaves[each] for each in part) for place in own
        ):
            return True
        return None if places else False

    def has_state(self, state: bytes) -> bool:
        """Tell whether it has a state of a generator."""
        digest = xxh3_64_hexdigest(state)
        return any(leaf.content == digest for leaf in self._leaves.values()) or any(
            state in blob for blob in self._blobs
        )


def _blobs(content: object) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
    elif isinstance(content, Mapping):
        for item in content.values():
            yield from _blobs(item)
