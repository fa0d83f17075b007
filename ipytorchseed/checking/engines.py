"""Checks notebooks on a cluster, whose engines must share the notebooks' folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ipytorchseed.checking.kernel import Options
from ipytorchseed.checking.running import INTERRUPTED, Watcher, Way, check
from ipytorchseed.checking.verdict import Verdict
from ipytorchseed.cluster.clients import connect, spread
from ipytorchseed.errors import LookupFailure


def check_on_engines(  # noqa: PLR0913, PLR0917 -- as ``check``, and where
    paths: Sequence[Path],
    options: Options,
    watcher: Watcher,
    way: Way,
    profile: str,
    told: Callable[[str], object],
) -> list[Verdict]:
    """Check notebooks on engines; if one dies, another takes over its notebooks.

    An interrupt ends all checks. Unfinished notebooks are reported as interrupted.

    Args:
        paths: The notebooks.
        options: How to run them.
        watcher: Called when a notebook starts and ends.
        way: The check to run on each notebook.
        profile: The profile of the cluster; empty for ``default``.
        told: Called with a sentence when an engine dies.

    Returns:
        A verdict for each notebook, in the order of ``paths``.

    Raises:
        LookupFailure: No cluster answers, or ipyparallel is not installed.
    """
    client = connect(profile)
    verdicts: dict[str, Verdict] = {}

    def done(name: str, came: Verdict | LookupFailure) -> None:
        if isinstance(came, LookupFailure):
            came = Verdict(Path(name), fault=str(came))
        verdicts[name] = came
        watcher.step(came.path)
        watcher.end(came)

    try:
        for path in paths:
            watcher.begin(path, 1)
        here = os.getcwd()  # noqa: PTH109 -- what `chdir` takes there
        tasks = {str(path): (str(path), here, options, way) for path in paths}
        spread(client, check_there, tasks, done=done, told=told)
    except KeyboardInterrupt:
        pass  # unfinished notebooks are reported as interrupted
    finally:
        client.close()
    return [verdicts.get(str(path), Verdict(path, fault=INTERRUPTED)) for path in paths]


def check_there(path: str, folder: str, options: Options, way: Way) -> Verdict:
    """Check a notebook. This runs on the engine.

    Args:
        path: The notebook, as the user named it.
        folder: The user's working folder, which ``path`` may be relative to.
        options: How to run it.
        way: The check to run.
    """
    here = os.getcwd()  # noqa: PTH109 -- as above
    try:
        os.chdir(folder)
    except OSError as error:
        msg = f"{folder} is missing on this engine ({error.strerror}): engines must share it"
        return Verdict(Path(path), fault=msg)
    try:
        return check([Path(path)], options, Watcher(), way)[0]
    finally:
        os.chdir(here)
