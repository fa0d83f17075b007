"""Reads files that we do not trust, with limits on size, count and depth.

Nothing in them is executed. If a file cannot be read, the error says in one line which file it is,
what is wrong with it, and what to do.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from json import JSONDecodeError
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from ipytorchseed.errors import IPyTorchSeedError, did_you_mean, in_brief

TOO_DEEP = "it is nested too deeply"


class ContentError(ValueError):
    """The reason why a file cannot be read, as a clause."""


class Format(Struct, frozen=True):
    """A kind of file that we do not trust, and the limits for reading it.

    Attributes:
        name: The name of such a file: ``receipt``.
        error: The class of the error to raise for an unreadable file.
        advice: What the user can do if the content is invalid.
        size: The largest size of a file, in bytes.
        values: The maximum number of values in its JSON.
        depth: The maximum depth of nesting in its JSON.
        named: Whether errors begin with the path. If not, the caller shows the path.
    """

    name: str
    error: type[IPyTorchSeedError]
    advice: str
    size: int
    values: int = 1 << 22
    depth: int = 100
    named: bool = True

    def open(self, path: str | os.PathLike[str]) -> BinaryIO:
        """Open a regular file; never block on a pipe or a device.

        Raises:
            OSError: The file cannot be opened, is not a regular file, or is too large.
        """
        self._refuse(Path(path).stat())  # first: opening a device may have a side effect
        file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 -- returned open
        try:
            self._refuse(os.fstat(file.fileno()))
        except OSError:
            file.close()
            raise
        return file

    def read(self, path: str | os.PathLike[str]) -> bytes:
        """Return the content of a regular file.

        Raises:
            OSError: As for ``open``.
        """
        with self.open(path) as file:
            return file.read(self.size)

    def _refuse(self, status: os.stat_result) -> None:
        if stat.S_ISDIR(status.st_mode):
            reason = "it is a folder, not a file"
        elif not stat.S_ISREG(status.st_mode):
            reason = "it is a pipe or a device, not a file"
        elif status.st_size > self.size:
            reason = f"it is too large: {status.st_size:,} bytes; the limit is {self.size:,}"
        else:
            return
        raise OSError(0, reason)

    def decode(self, content: bytes, decoder: Callable[[bytes], Any] = msgspec.json.decode) -> Any:  # noqa: ANN401 -- a JSON value
        """Parse a JSON value.

        Args:
            content: The content of a file or of one of its lines.
            decoder: Parses JSON.

        Raises:
            ContentError: The JSON holds too many values, or is nested too deeply.
        """
        lists, dicts, commas = map(content.count, b"[{,")
        if lists + dicts + commas > self.values:
            raise ContentError(f"it holds more than {self.values:,} values")
        value = decoder(content)
        if lists + dicts > self.depth:
            refuse_deep(value, self.depth)
        return value

    @contextmanager
    def errors(self, path: str | os.PathLike[str]) -> Iterator[None]:
        """Convert errors in the block to this format's error class, as one line."""
        try:
            yield
        except self.error:
            raise
        except FileNotFoundError:
            reason = _not_found(Path(path))
        except OSError as error:
            reason = f"it cannot be read: {error.strerror}" if error.errno else str(error.strerror)
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError, MemoryError,
                msgspec.MsgspecError) as error:  # fmt: skip
            reason = f"{self._say(error)}; {self.advice}"
        else:
            return
        line = printable(f"{os.fspath(path)}: {reason}" if self.named else reason)
        raise self.error(line)

    def _say(self, error: Exception) -> str:
        """Describe what is wrong with the content, as a clause."""
        if isinstance(error, ContentError | RecursionError):
            return str(error) if isinstance(error, ContentError) else TOO_DEEP
        if isinstance(error, JSONDecodeError):
            return f"not a {self.name}: invalid JSON, {error}"
        if isinstance(error, UnicodeError) or str(error) == "Invalid UTF-8 encoded string":
            return f"not a {self.name}: it is not UTF-8"
        if isinstance(error, msgspec.MsgspecError):
            invalid = isinstance(error, msgspec.ValidationError)
            what = (
                f"a damaged {self.name}" if invalid else f"not a {self.name}, or an incomplete one"
            )
            return f"{what}: {error}"
        return f"a damaged {self.name}: {in_brief(error)}"


def refuse_deep(value: object, depth: int = 100) -> None:
    """Refuse a JSON value that is nested too deeply for recursive functions.

    Raises:
        ContentError: The value has more than ``depth`` levels.
    """
    level = [value]
    for _ in range(depth + 1):
        containers = (each for each in level if isinstance(each, dict | list))
        values = (each.values() if isinstance(each, dict) else each for each in containers)
        level = [*chain.from_iterable(values)]
        if not level:
            return
    raise ContentError(TOO_DEEP)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without blocking, in case it has become a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _not_found(path: Path) -> str:
    """Describe a missing file, with the name of a similar one that exists."""
    if path.is_symlink():
        return "a link to a file that does not exist"
    similar = [each.name for each in path.parent.glob(f"*{path.suffix}") if each.name != path.name]
    return f"no such file{did_you_mean(path.name, similar)}"


def printable(text: str) -> str:
    """Replace control characters and lone surrogates with question marks."""
    return "".join(each if each.isprintable() else "?" for each in text)
