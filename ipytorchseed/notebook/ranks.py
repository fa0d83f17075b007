"""``%rng --ranks``: compares the engines of a cluster, or launched ranks."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ipytorchseed.cluster.clients import find_client
from ipytorchseed.errors import LookupFailure, RanksError, in_brief
from ipytorchseed.ranks.comparing import read, side_by_side
from ipytorchseed.ranks.judging import expectations
from ipytorchseed.ranks.looking import FOLDER, take
from ipytorchseed.ranks.report import RanksView

# Seconds to wait for engines. A busy engine answers when its work is done.
_SECONDS = 10.0


def look_at_ranks(folder: str, expect: Mapping[str, str], names: Mapping[str, Any]) -> RanksView:
    """Return the table of all ranks.

    Args:
        folder: The folder with the files of the ranks. Empty for the connected engines or, if there
            are none, for the default folder.
        expect: ``same`` or ``distinct`` for each source that has an expectation.
        names: The user's namespace, which may hold a client of ipyparallel.

    Raises:
        LookupFailure: There are no engines and no such folder.
        RanksError: No engine answered, or an expectation is not valid.
    """
    if not folder and "ipyparallel" in sys.modules:
        with suppress(LookupFailure):  # no client is connected
            return _engines(find_client([*names.values()]), expect)
    if not folder and not Path(FOLDER).is_dir():
        neither = f"no ipyparallel client in this notebook, and no folder {FOLDER} here"
        msg = f"no ranks to look at: {neither}, which its.ranks.watch(model) writes in each rank"
        raise LookupFailure(msg)
    return read(folder or FOLDER, expect=expect)


def _engines(client: Any, expect: Mapping[str, str]) -> RanksView:  # noqa: ANN401
    """Look at every engine of a cluster."""
    wanted = expectations(expect)
    answers = {number: client[number].apply_async(take) for number in client.ids}
    deadline, looks, notes = time.monotonic() + _SECONDS, [], []
    for number, answer in answers.items():
        try:
            if answer.wait(max(0.0, deadline - time.monotonic())):
                looks.append(answer.get())
            else:
                notes.append(f"engine {number} is busy: look again when its work is done")
        except Exception as error:  # noqa: BLE001 -- whatever an engine raises
            notes.append(f"engine {number} could not be looked at ({in_brief(error)})")
    if not looks:
        raise RanksError("; ".join(notes) or "the cluster has no engines")
    return side_by_side(looks, wanted, notes)
