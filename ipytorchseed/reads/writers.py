"""The table of calls that write files, also where Python raises no audit event."""

from __future__ import annotations

from collections.abc import Collection

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.effects import Effects

_WRITERS = frozenset({
    "copyfile", "copytree", "dump", "extractall", "imsave", "imwrite", "makedirs", "memmap",
    "mkdir", "rmtree", "save", "save_checkpoint", "save_file", "save_model", "save_pretrained",
    "save_to_disk", "save_weights", "savefig", "savetxt", "savez", "savez_compressed",
    "to_csv", "to_excel", "to_feather", "to_hdf", "to_parquet", "to_pickle", "to_sql", "to_stata",
    "tofile", "unlink", "urlretrieve", "write_bytes", "write_html", "write_image", "write_text",
})  # fmt: skip
"""Last parts of names of functions and methods that write, replace or remove files."""

_OF_MODULE = frozenset({
    "os.pwrite", "os.remove", "os.rename", "os.replace", "os.rmdir", "os.truncate", "os.write",
    "shutil.move",
})  # fmt: skip
"""The same of names that other things have as well."""


_SENDS = frozenset({
    "commit", "communicate", "executemany", "executescript", "send", "sendall", "sendto",
    "truncate", "write", "writeheader", "writelines", "writerow", "writerows",
})  # fmt: skip
"""Methods of what an earlier cell opened that write to it: a file, a database, a pipe, a socket."""

_ASKED = frozenset({"execute", "sql"})
_CHANGES = lazy_pattern(r"(?i)\b(?:alter|create|delete|drop|insert|merge|replace|update)\s")
"""Methods that run a statement of SQL, and what is in one that changes a database."""

_PRINTS_TO = lazy_pattern(r"\bfile\s*=\s*(\w+)")
"""Finds what ``print`` is told to write to."""


def written_to(source: str, effects: Effects, opened: Collection[str]) -> list[str]:
    """Return the names of what a cell writes to that it has not opened itself.

    Args:
        source: The cell's text.
        effects: What it does with names.
        opened: Names of files, databases and the like.
    """
    found = {name for name in _PRINTS_TO.findall(source) if name in opened}
    for path in effects.calls:
        name, _, rest = path.partition(".")
        method = rest.rpartition(".")[2]
        if name in opened and (
            method in _SENDS or (method in _ASKED and _CHANGES.search(source) is not None)
        ):
            found.add(name)
    return sorted(found)


def writing_calls(effects: Effects) -> tuple[str, ...]:
    """Return the calls among what a cell does that write files, as the cell names them.

    Code that the cell defines is not followed: it runs in another cell, or leaves its traces in
    the record of the run.
    """
    return tuple(
        sorted(
            path
            for path in effects.calls
            if path.rpartition(".")[2] in _WRITERS or path.lstrip(":") in _OF_MODULE
        )
    )
