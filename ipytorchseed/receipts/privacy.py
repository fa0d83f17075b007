"""Removes private content from runs, and restores texts that this machine has.

Paths become relative to the notebook's folder and lose user names. Texts, messages and the names of
items are replaced by digests. If a run on this machine has a text with the same digest, the text is
restored.
"""

from __future__ import annotations

import getpass
import os.path as paths
import re
from collections.abc import Callable, Iterable, Mapping
from os import sep
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh3_64_hexdigest

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import FileRead, Outputs, Outside, Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.why.evidence import FOLDER
from ipytorchseed.why.finders.settings import is_secret

# The fields of a run, and of its outputs, that contain fingerprints. A receipt stores each
# fingerprint once, by its digest.
VALUES, SHOWN = ("reads", "writes"), ("result", "shown", "stdout", "displays")

# The fields of a run that have no content in a receipt.
WITHOUT = ("notebook", "kernel", "source")


def each_text(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 -- a JSON value
    """Return a JSON value with ``change`` applied to all strings, including keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): each_text(each, change) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [each_text(each, change) for each in value]
    return value


def each_value(held: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 -- a field of a run
    """Return a value, list or dictionary with ``change`` applied to each value."""
    if isinstance(held, dict):
        return {name: change(value) for name, value in held.items()}
    return tuple(map(change, held)) if isinstance(held, list | tuple) else change(held)


# Placeholders for the home folder at the start of a path, and for the user's name.
_HOME, _USER = "~", "<user>"


class Places(Struct, frozen=True):
    """The folders and the user of a machine, for making its paths portable.

    Attributes:
        root: The absolute path of the notebook's folder.
        home: The absolute path of the user's home folder.
        user: The user's name; empty if unknown.
    """

    root: str
    home: str
    user: str

    @classmethod
    def here(cls, notebook: str) -> Places:
        """Describe this machine.

        Args:
            notebook: The path of a notebook's file, or of its folder if the file is unknown.
        """
        path = paths.abspath(notebook)
        try:
            user = getpass.getuser()
        except (ImportError, KeyError, OSError):  # a container may have no user names
            user = ""
        root = paths.dirname(path) if path.endswith(".ipynb") else path
        return cls(root, paths.expanduser("~"), user)

    def hide(self, path: str) -> str:
        """Return the form that a path has in a receipt. Relative paths stay unchanged."""
        if not paths.isabs(path):
            return path
        if _is_in(path, self.root) or not _is_in(self.home, self._shared(path)):
            path = paths.relpath(path, self.root)
        elif _is_in(path, self.home):
            path = _HOME + path[len(self.home) :]
        return _swap(path.replace(sep, "/"), self.user, _USER)

    def find(self, path: str) -> str:
        """Return the path on this machine that a path in a receipt corresponds to."""
        first, _, rest = path.partition("/")
        whole = paths.join(self.home, rest) if first == _HOME else paths.join(self.root, path)
        return paths.normpath(_swap(whole, _USER, self.user or _USER))

    def scrub(self, text: str) -> str:
        """Return a text with the home folder and the user's name removed from its paths."""
        if self.home != sep:
            text = re.sub(rf"(?<!\w){re.escape(self.home)}(?!\w)", _HOME, text)
        return text.replace(f"/{self.user}/", f"/{_USER}/") if self.user else text

    def _shared(self, path: str) -> str:
        """Return the innermost folder that contains both a path and the notebook."""
        try:
            return paths.commonpath([self.root, path])
        except ValueError:  # on another drive
            return sep


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(sep) + sep) or folder == sep


def _swap(path: str, part: str, other: str) -> str:
    """Replace a component of a path. Parts of longer components are not replaced."""
    return "/".join(other if each and each == part else each for each in path.split("/"))


# The prefix of parts whose names are content of the value: the keys of a dictionary.
_ITEM = "k:"

_TYPE = lazy_pattern(r"[\w.]+")

# Matches the id of a cell in a notebook file. Other names of cells are texts or addresses.
_ID = lazy_pattern(r"[\w-]{1,64}", re.ASCII)

# Kinds of values whose digests depend on the version of Python and of the library that defines
# them.
_BY_CODE = frozenset({"function", "method", "class", "code"})

_VERSIONS = "torch", "numpy", "python"


def conceal(run: Run, places: Places) -> Run:
    """Return a run without private content: texts, messages, names of items, paths.

    Args:
        run: A run from the ledger.
        places: The folders and the user of this machine.
    """

    def value(each: Fingerprint) -> Fingerprint:
        parts = {_part(name): part for name, part in each.parts.items()}
        return replace(each, parts=parts, summary=places.scrub(each.summary))

    def hidden(record: Run | Outputs, names: Iterable[str]) -> dict[str, Any]:
        held = {name: getattr(record, name) for name in names}
        return {n: each_value(values, value) for n, values in held.items() if values is not None}

    error = run.outputs.error and _error(run.outputs.error)
    files = tuple(file for file in run.files if not file.is_folder)
    hid = _with_paths(replace(run, files=files), places.hide)
    calls = run.nondeterministic_calls.items()  # also programs
    nothing: dict[str, Any] = dict.fromkeys(WITHOUT, "")
    return replace(
        hid,
        **nothing,
        cell=cell_name(run.cell),
        notes=(),
        actions=(),
        id=None,
        settings={name: _setting(name, each, places) for name, each in run.settings.items()},
        **hidden(run, VALUES),
        outputs=replace(run.outputs, **hidden(run.outputs, SHOWN), error=error),
        outside=Outside(wrote=hid.outside.wrote, left=hid.outside.left),
        nondeterministic_calls={places.scrub(name): is_used for name, is_used in calls},
    )


def reveal(there: Run, here: Run) -> Run:
    """Restore the texts in a receipt's run that a run on this machine has too.

    Args:
        there: The run in the receipt.
        here: The run of the same cell on this machine.
    """
    alike = there.code == here.code
    values = (*here.reads.values(), *here.writes.values())
    known = {_part(part): part for each in values for part in each.parts}
    versions = [[run.settings.get(name) for name in _VERSIONS] for run in (there, here)]
    other_python = _minor(there) != _minor(here)
    imported = alike and versions[0] != versions[1]

    def revealed(values: Mapping[str, Fingerprint], *, unknown: bool) -> dict[str, Fingerprint]:
        found = {}
        for name, each in values.items():
            digest = "" if unknown and each.kind in _BY_CODE else each.digest
            parts = {known.get(part, part): told for part, told in each.parts.items()}
            found[name] = replace(each, digest=digest, parts=parts)
        return found

    outputs, error = there.outputs, here.outputs.error
    if outputs.error == _error(error or ""):
        outputs = replace(outputs, error=error)
    return replace(
        there,
        cell=here.cell,
        source=here.source if alike else "",
        outputs=outputs,
        settings={name: _same_setting(name, each, here) for name, each in there.settings.items()},
        reads=revealed(there.reads, unknown=other_python),
        writes=revealed(there.writes, unknown=other_python or imported),
    )


def cell_name(cell: str) -> str:
    """Return a cell's name in a receipt: its id, or the digest of any other name."""
    return cell if _ID.fullmatch(cell) else f"#{_digest(cell)}"


def _digest(text: str) -> str:
    return xxh3_64_hexdigest(text.encode("utf-8", "surrogatepass"))


def _part(name: str) -> str:
    return f"{_ITEM}{_digest(name)[:8]}" if name.startswith(_ITEM) else name


def _error(error: str) -> str:
    """Return the type of an error with a digest of its message."""
    found = _TYPE.match(error)
    return f"{found.group() if found else 'error'} #{_digest(error)[:8]}"


def _setting(name: str, value: Any, places: Places) -> Any:  # noqa: ANN401 -- a JSON value
    if name == FOLDER:
        return places.hide(value)
    if is_secret(name) and value is not None:
        return f"#{_digest(str(value))}"
    return each_text(value, places.scrub)


def _same_setting(name: str, value: Any, here: Run) -> Any:  # noqa: ANN401 -- as above
    mine = here.settings.get(name)
    is_same = is_secret(name) and mine is not None and value == f"#{_digest(str(mine))}"
    return mine if is_same else value


def _minor(run: Run) -> list[str]:
    return str(run.settings.get("python")).split(".")[:2]


def found_at(run: Run, places: Places) -> Run:
    """Return a receipt's run with the paths of its files on this machine."""
    found = _with_paths(run, places.find)
    if FOLDER not in run.settings:
        return found
    folder = places.find(str(run.settings[FOLDER]))
    return replace(found, settings={**run.settings, FOLDER: folder})


def _with_paths(run: Run, change: Callable[[str], str]) -> Run:
    """Return a run with a function applied to the paths of its files."""

    def moved(file: FileRead) -> FileRead:
        # Times of copied files differ between machines.
        return replace(file, path=change(file.path), modified=0)

    files, loaded = each_value(run.files, moved), each_value(run.loaded, moved)
    outside = replace(run.outside, wrote=each_value(run.outside.wrote, change))
    return replace(run, files=files, loaded=loaded, outside=outside)
