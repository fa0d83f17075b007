"""``%why`` asked from outside any kernel: the ledger alone answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.inputtransformer2 import TransformerManager

from ipytorchseed.errors import LookupFailure
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.notebook.lookup import find_run
from ipytorchseed.notebook.why_magic import run_of
from ipytorchseed.render.why import WhyView
from ipytorchseed.session.asking import last_repeated, why
from ipytorchseed.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterable


def why_by_ledger(notebook: str, what: str = "", against: str = "") -> str:
    """Explain a run as a kernel would that has just started; return the JSON of ``%why --json``.

    Args:
        notebook: The notebook's path, or how it ends.
        what: What ``%why`` takes; nothing for the latest run of a cell that ran before.
        against: What ``%why --against`` takes; nothing for the cell's run before.

    Raises:
        LookupFailure: No such notebook or run is on record.
        LedgerError: The ledger cannot be read.
    """
    with Ledger.open(read_only=True) as ledger:
        name = _known(notebook, ledger.notebooks())
        session = Session(name, ledger, TransformerManager().transform_cell)
        run = run_of(session, what) if what else last_repeated(session)
        said = why(session, run, find_run(session, against) if against else None)
        return WhyView(said, session.kernel).to_json()


def is_same(path: str, other: str) -> bool:
    """Tell whether two paths may be one notebook's: they are equal, or one ends in the other."""
    paths = (each.replace("\\", "/").strip("/") for each in (path, other))
    short, long = sorted(paths, key=len)
    return bool(short) and f"/{long}".endswith(f"/{short}")


def _known(notebook: str, known: Iterable[str]) -> str:
    """Return the one notebook on record that is meant.

    Raises:
        LookupFailure: There is none, or there are several.
    """
    found = [each for each in known if is_same(each, notebook)]
    if len(found) == 1:
        return found[0]
    if found:
        msg = f"{notebook} may be any of {', '.join(found)}: name more of its path"
    else:
        msg = f"no run of {notebook} is recorded; load the extension in it, and run its cells"
    raise LookupFailure(msg)
