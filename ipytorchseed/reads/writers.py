"""The table of calls that write files, also where Python raises no audit event."""

from __future__ import annotations

from ipytorchseed.reads.effects import Effects

_WRITERS = frozenset({
    "copyfile", "copytree", "dump", "extractall", "imsave", "imwrite", "makedirs", "memmap",
    "mkdir", "rmtree", "save", "save_checkpoint", "save_file", "save_model", "save_pretrained",
    "save_to_disk", "save_weights", "savefig", "savetxt", "savez", "savez_compressed",
    "to_csv", "to_excel", "to_feather", "to_hdf", "to_parquet", "to_pickle", "to_sql", "to_stata",
    "tofile", "unlink", "urlretrieve", "write_bytes", "write_html", "write_image", "write_text",
})  # fmt: skip
"""Last parts of names of functions and methods that write, replace or remove files."""

_OF_MODULE = frozenset({"os.remove", "os.rename", "os.replace", "os.rmdir", "shutil.move"})
"""The same of names that other things have as well."""


def writing_calls(effects: Effects) -> tuple[str, ...]:
    """Return the calls among what a cell does that write files, as the cell names them.

    Code that the cell defines is not followed: it runs in another cell, or leaves its traces in
    the record of the run.
    """
    return tuple(
        sorted(
            path
            for path in effects.calls
            if path.rpartition(".")[2] in _WRITERS or path in _OF_MODULE
        )
    )
