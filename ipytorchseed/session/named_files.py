"""Finds the files whose names a cell contains or reads.

Arrow, HDF5, SQLite, OpenCV and safetensors open files in native code, which cannot be observed. But
the path is usually a constant in the cell or in a function that it calls, or the value of a
variable that they read.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from glob import escape, iglob
from pathlib import Path, PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any

from ipytorchseed.introspection.anatomy import anatomy
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.parsing import parse_text

Mark = tuple[int, ...]

# Finds the suffix of a file's name, such as ``.h5`` or ``.safetensors``.
_SUFFIX = lazy_pattern(r"(?<=\w)\.\w{1,16}\Z")

_QUOTED = lazy_pattern(r"""["']([^"'\n]{1,223}\.\w{1,16})["']""")

# Matches a pattern of file names: ``shards/*.parquet``.
_PATTERN = lazy_pattern(r"(?=[^ ]*\*)[^ ]*\.[^\W_]+\Z")

_RUN_INSIDE = lazy_pattern(r"^%run[ \t]+-i[ \t]+(\S+\.py)\b.*", re.MULTILINE)

# The maximum number of characters of a script to search.
_SCRIPT = 2**16

# The ``id`` of each class of paths. Converting objects of other classes may run user code.
_PATHS = frozenset(map(id, (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath)))

# Longer strings, in characters, are not taken for paths.
_LONGEST = 240

# The maximum numbers of strings in a value, of names of files, and of folders to search.
_MOST = 64


def texts_of(value: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the strings and paths in a value: itself, or its items or attributes.

    Args:
        value: The value. A large container is skipped.
    """
    made = type(value)
    if made is str or id(made) in _PATHS:
        text = os.fspath(value)
        if len(text) <= _LONGEST:
            yield text
        return
    names = value if made is dict else anatomy(made).dictionary(value)
    items = value if made is list or made is tuple else (names or {}).values()
    for each in [*items] if len(items) <= _MOST else ():
        if type(each) is str or id(type(each)) in _PATHS:
            yield from texts_of(each)


def texts_in(script: str) -> list[str]:
    """Return the quoted file names in a script, which the script may open."""
    return _QUOTED.findall(_read(script))


def with_scripts(source: str) -> str:
    """Return a cell's text, with the code of scripts that ``%run -i`` runs inserted."""
    if "%run" not in source:
        return source
    texts = {name: _read(name) for name in _RUN_INSIDE.findall(source)}
    codes = {name: text for name, text in texts.items() if parse_text(text) is not None}
    return _RUN_INSIDE.sub(lambda found: f"{found[0]}\n{codes.get(found[1], '')}", source)


def _read(script: str) -> str:
    path = os.path.expanduser(script)  # noqa: PTH111 -- as below
    with suppress(OSError, ValueError):
        if mark_of(path):  # a regular file, not a pipe, which would block
            with Path(path).open(encoding="utf-8", errors="replace") as file:
                return file.read(_SCRIPT)
    return ""


def find_files(texts: Iterable[str], packages: Collection[str]) -> dict[str, Mark]:
    """Return the files that strings may refer to: paths, patterns, names in a folder.

    Args:
        texts: String constants and values that a cell reads.
        packages: Packages that the cell uses.

    Returns:
        The mark of each file, by absolute path. Missing files are included, except files inside a
        folder that is also among the strings.
    """
    words = sorted(word for word in {*texts} if 0 < len(word) <= _LONGEST and "\n" not in word)
    names = [word for word in words if _SUFFIX.search(word)][:_MOST]
    paths = {name: _absolute(name) for name in names}
    found = {path: mark_of(path) for path in paths.values()}
    missing = [name.lstrip("/") for name, path in paths.items() if not found[path]]
    folders = filter(os.path.isdir, words[:_MOST] if missing else ())
    inside = [_absolute(folder, name) for folder in folders for name in missing]
    if not _READ_FOLDERS.isdisjoint(packages):
        inside += itertools.islice(_find_by_folder_or_pattern(words[:_MOST]), _MOST)
    return found | {path: mark for path in inside if (mark := mark_of(path))}


def _find_by_folder_or_pattern(words: Sequence[str]) -> Iterator[str]:
    """Yield the files that match patterns, and the tables in folders.

    Some libraries list folders in native code, for ``read_parquet("parts")`` and
    ``read_parquet("shards/*.parquet")``.
    """
    for pattern in filter(_PATTERN.match, words):
        yield from iglob(_absolute(pattern), recursive=True)  # noqa: PTH207 -- as below
    plain = [word for word in words if "*" not in word and not _SUFFIX.search(word)]
    folders = [*filter(os.path.isdir, map(_absolute, plain))][:_FOLDERS]
    pairs = itertools.starmap(_absolute, itertools.product(folders, plain))
    for folder in dict.fromkeys([*folders, *filter(os.path.isdir, pairs)]):
        entries = iglob(f"{escape(folder)}/**", recursive=True)  # noqa: PTH207 -- as below
        for path in itertools.islice(entries, _ENTRIES):
            if path.endswith(_OF_TABLES):
                yield path


# Packages that read the tables in a folder.
_READ_FOLDERS = frozenset({"dask", "datasets", "pandas", "polars", "pyarrow"})

# The maximum number of folders to search, and of entries to read for one search.
_FOLDERS, _ENTRIES = 8, 2_000

# Suffixes of tables that libraries read from a folder.
_OF_TABLES = (".arrow", ".avro", ".feather", ".ipc", ".orc", ".parquet")


def _absolute(*parts: str) -> str:
    begin, *rest = parts
    return os.path.abspath(os.path.join(os.path.expanduser(begin), *rest))  # noqa: PTH100, PTH111, PTH118 -- they are strings


def mark_of(path: str) -> Mark:
    """Return the inode, size and modification time of a file; empty if not a file."""
    with suppress(OSError, ValueError):
        status = os.stat(path)  # noqa: PTH116 -- as above
        if stat.S_ISREG(status.st_mode):
            return (status.st_ino, status.st_size, status.st_mtime_ns)
    return ()
