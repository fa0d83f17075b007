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
    return _RUN_INSIDE.sub(lambda found: f"{found[0]}\n{_code(_read(found[1]))}", source)


def _code(text: str) -> str:
    return "" if parse_text(text) is None else text


def _read(script: str) -> str:
    path = os.path.expanduser(script)  # noqa: PTH111 -- as below
    if not mark_of(path):  # not a regular file, such as a pipe, which would block
        return ""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return file.read(_SCRIPT)
    except (OSError, ValueError):
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
    inside = {} if _READ_FOLDERS.isdisjoint(packages) else _find_by_folder_or_pattern(words)
    return inside | _find_named(words)


def _find_named(words: Sequence[str]) -> dict[str, Mark]:
    """Return the files whose paths are among the strings; see ``find_files``."""
    names = [word for word in words if _SUFFIX.search(word)][:_MOST]
    if not names:
        return {}
    paths = {name: _absolute(name) for name in names}
    found = {path: mark_of(path) for path in paths.values()}
    missing = [name.lstrip("/") for name, path in paths.items() if not found[path]]
    folders = filter(os.path.isdir, words[:_MOST] if missing else ())
    inside = (_absolute(folder, name) for folder in folders for name in missing)
    return found | {path: mark for path in inside if (mark := mark_of(path))}


def _find_by_folder_or_pattern(words: Sequence[str]) -> dict[str, Mark]:
    """Return the tables in folders, and the files that match patterns.

    Some libraries list folders in native code, for ``read_parquet("parts")`` and
    ``read_parquet("shards/*.parquet")``.
    """
    patterns = filter(_PATTERN.match, words[:_MOST])
    plain = [word for word in words[:_MOST] if "*" not in word and not _SUFFIX.search(word)]
    folders = [*filter(os.path.isdir, map(_absolute, plain))][:_FOLDERS]
    pairs = itertools.starmap(_absolute, itertools.product(folders, plain))
    folders += filter(os.path.isdir, pairs)
    inside = (iglob(f"{escape(each)}/**", recursive=True) for each in dict.fromkeys(folders))  # noqa: PTH207 -- as below
    entries = itertools.chain(*(itertools.islice(each, _ENTRIES) for each in inside))
    found = itertools.chain(
        *(iglob(_absolute(each), recursive=True) for each in patterns),  # noqa: PTH207 -- as below
        (path for path in entries if path.endswith(_OF_TABLES)),
    )
    paths = dict.fromkeys(itertools.islice(found, _MOST))
    return {path: mark for path in paths if (mark := mark_of(path))}


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
    try:
        status = os.stat(path)  # noqa: PTH116 -- as above
    except (OSError, ValueError):
        return ()
    if not stat.S_ISREG(status.st_mode):
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns)
