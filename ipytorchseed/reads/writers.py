"""The table of calls that write files. Not all of them raise an audit event."""

from __future__ import annotations

from collections.abc import Collection

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.effects import Effects

# Last parts of the dotted names of functions that write, replace or remove files.
_WRITERS = frozenset({
    "copyfile", "copytree", "dump", "extractall", "imsave", "imwrite", "makedirs", "memmap",
    "mkdir", "rmtree", "save", "save_checkpoint", "save_file", "save_model", "save_pretrained",
    "save_to_disk", "save_weights", "savefig", "savetxt", "savez", "savez_compressed",
    "to_csv", "to_excel", "to_feather", "to_hdf", "to_parquet", "to_pickle", "to_sql", "to_stata",
    "tofile", "unlink", "urlretrieve", "write_bytes", "write_html", "write_image", "write_text",
})  # fmt: skip

# Full names of functions that write, if the last part is ambiguous.
_FULL_NAMES = frozenset({
    "os.pwrite", "os.remove", "os.rename", "os.replace", "os.rmdir", "os.truncate", "os.write",
    "shutil.move",
})  # fmt: skip


# Methods that write to an open file, database, pipe or socket.
_WRITE_METHODS = frozenset({
    "commit", "communicate", "executemany", "executescript", "send", "sendall", "sendto",
    "truncate", "write", "writeheader", "writelines", "writerow", "writerows",
})  # fmt: skip

_RUN_SQL = frozenset({"execute", "sql"})

# Finds SQL that changes a database.
_CHANGES = lazy_pattern(r"(?i)\b(?:alter|create|delete|drop|insert|merge|replace|update)\s")

# Finds the file that ``print`` writes to.
_PRINTS_TO = lazy_pattern(r"\bfile\s*=\s*(\w+)")


def written_to(source: str, effects: Effects, opened: Collection[str]) -> list[str]:
    """Return the variables with open files to which a cell writes.

    Args:
        source: The cell's text.
        effects: The effects of the cell.
        opened: Variables with a file, database, pipe or socket that earlier cells opened.
    """
    found = {name for name in _PRINTS_TO.findall(source) if name in opened}
    for path in effects.calls:
        name, _, rest = path.partition(".")
        method = rest.rpartition(".")[2]
        if name in opened and (
            method in _WRITE_METHODS or (method in _RUN_SQL and _CHANGES.search(source) is not None)
        ):
            found.add(name)
    return sorted(found)


def writing_calls(effects: Effects) -> tuple[str, ...]:
    """Return the dotted names of a cell's calls that write files.

    Functions that the cell defines are not searched: they run in another cell, or their files are
    in the record of the run.
    """
    return tuple(
        sorted(
            path
            for path in effects.calls
            if path.rpartition(".")[2] in _WRITERS or path.lstrip(":") in _FULL_NAMES
        )
    )
