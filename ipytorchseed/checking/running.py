"""Checks several notebooks, with a limit on the kernels that run at the same time."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.checking.causes import for_notebook
from ipytorchseed.checking.comparing import compare, compare_receipt, make_receipt
from ipytorchseed.checking.kernel import Options
from ipytorchseed.checking.notebook import RAISES, Notebook, read
from ipytorchseed.checking.passes import Pass, run_through
from ipytorchseed.checking.proving import prove
from ipytorchseed.checking.saved import compare_saved
from ipytorchseed.checking.verdict import Unreached, Verdict
from ipytorchseed.cluster.clients import connect, spread
from ipytorchseed.errors import LookupFailure, UncheckableError
from ipytorchseed.foreign import TOO_DEEP
from ipytorchseed.render.text import bar, set_width, width

Way = Callable[[Path, "Setup"], Awaitable[Verdict]]


# The fault of a notebook whose check Ctrl-C ended.
INTERRUPTED = "interrupted"


class Watcher:
    """A receiver of the progress of checks, which ignores it."""

    def begin(self, path: Path, steps: int, trying: str = "") -> None:
        """Called when a notebook starts.

        ``steps`` is its number of cell runs, ``trying`` describes the edits that are tried.
        """

    def step(self, path: Path) -> None:
        """Called when a cell of the notebook has run."""

    def end(self, verdict: Verdict) -> None:
        """Called with the verdict."""


class Setup(Struct, frozen=True):
    """How to run notebooks.

    Attributes:
        options: The user's options.
        places: Limits the kernels that run at the same time.
        watcher: Receives the progress.
        folder: The folder for the records.
    """

    options: Options
    places: asyncio.Semaphore
    watcher: Watcher
    folder: Path = Path()


async def check_one(path: Path, setup: Setup) -> Verdict:
    """Check a notebook; its file is not written.

    Args:
        path: The notebook.
        setup: How to run it.

    Raises:
        UncheckableError: The notebook cannot be read.
    """
    notebook = read(path)
    return for_notebook(notebook, await run(notebook, setup))


def check(
    paths: Sequence[Path], options: Options, watcher: Watcher, way: Way = check_one
) -> list[Verdict]:
    """Check notebooks. No kernel outlives this call.

    An interrupt ends all checks. Unfinished notebooks are reported as interrupted.

    Args:
        paths: The notebooks.
        options: How to run them.
        watcher: Called with the progress.
        way: The check to run on each notebook.

    Returns:
        A verdict for each notebook, in the order of ``paths``.
    """
    work = _check_all(paths, options, watcher, way)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_in_thread(work)  # a loop is running here, as in a notebook


def _run_in_thread(work: Coroutine[Any, Any, list[Verdict]]) -> list[Verdict]:
    """Run a coroutine in a new thread; an interrupt ends it."""
    tasks: list[asyncio.Task[list[Verdict]]] = []

    async def main() -> list[Verdict]:
        tasks.append(asyncio.create_task(work))
        return await tasks[0]

    with ThreadPoolExecutor(1) as apart:
        done = apart.submit(asyncio.run, main())
        try:
            return done.result()
        except BaseException:
            for task in () if done.done() else tasks:
                task.get_loop().call_soon_threadsafe(task.cancel)
            raise


async def _check_all(
    paths: Sequence[Path], options: Options, watcher: Watcher, way: Way
) -> list[Verdict]:
    setup = Setup(options, asyncio.Semaphore(options.jobs), watcher)
    tasks = [asyncio.create_task(_check(path, setup, way)) for path in paths]
    loop, work = asyncio.get_running_loop(), asyncio.gather(*tasks)
    before = signal.getsignal(signal.SIGTERM)
    catch = before is not signal.SIG_IGN and threading.current_thread() is threading.main_thread()
    if catch:
        signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(work.cancel))
    try:
        return await work
    except asyncio.CancelledError:  # also on SIGINT; each task has ended its kernels
        return [task.result() for task in tasks]
    finally:
        if catch:
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


async def _check(path: Path, setup: Setup, way: Way) -> Verdict:
    try:
        with tempfile.TemporaryDirectory(prefix="its-") as folder:
            verdict = await way(path, replace(setup, folder=Path(folder)))
    except UncheckableError as error:
        verdict = Verdict(path, fault=str(error))
    except RecursionError:
        verdict = Verdict(path, fault=f"what a cell shows cannot be compared: {TOO_DEEP}")
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        verdict = Verdict(path, fault=f"no room for its records: {error.strerror}{place}")
    except asyncio.CancelledError:
        verdict = Verdict(path, fault=INTERRUPTED)
    setup.watcher.end(verdict)
    return verdict


async def run(notebook: Notebook, setup: Setup, trying: str = "") -> Verdict:
    """Run a notebook in fresh kernels, and compare.

    Args:
        notebook: The notebook.
        setup: How to run it.
        trying: A description of the edits that are tried.

    Raises:
        OSError: There is no room for the records.
    """
    options, watcher = setup.options, setup.watcher
    times = 1 if options.rerun or options.once else options.runs
    cells, nodes = len(notebook.runnable), notebook.node.cells
    if not cells:
        return Verdict(notebook.path, note="no code cells: there is nothing to run")
    if options.saved and not any(nodes[each.index].outputs for each in notebook.cells):
        note = "no outputs are saved in it: nothing to compare"
        return Verdict(notebook.path, note=note, saved=True)
    watcher.begin(notebook.path, cells * times * (1 + options.rerun), trying)
    passes: list[Pass] = []
    begins: list[float] = []

    async def one() -> None:
        async with setup.places:
            if any(each.fault or (options.quick and each.failed) for each in passes):
                return  # another run would fail again
            begins.append(time.monotonic())
            own = Path(tempfile.mkdtemp(prefix="", dir=setup.folder))
            step = partial(watcher.step, notebook.path)
            passes.extend(await run_through(notebook, options, own, step))

    verdict = Verdict(notebook.path)
    for count in (2, times - 2) if options.quick else (times,):  # the runs that start together
        await asyncio.gather(*(one() for _ in range(count)))
        verdict = _judge(notebook, passes, options)
        if verdict.fault is not None or verdict.differing:
            break
    verdict = replace(verdict, seconds=time.monotonic() - begins[0])
    if options.prove and not options.once and verdict.fault is None:
        async with setup.places:
            verdict = await prove(notebook, options, verdict, passes[0].ledger.parent)
    return verdict


def _judge(notebook: Notebook, passes: Sequence[Pass], options: Options) -> Verdict:
    if options.saved:
        verdict = compare_saved(notebook, passes[0], options.rtol)
    elif options.against is not None:
        verdict = compare_receipt(notebook, passes[0], options.against)
    else:
        cells = compare(notebook, passes)
        verdict = Verdict(notebook.path, cells, rerun=options.rerun, strict=options.strict)
    if options.receipt:
        verdict = replace(verdict, receipt=make_receipt(notebook, passes[0]))
    if verdict.first is not None:
        verdict = replace(verdict, line=notebook.line(verdict.first.cell))
    fault = next((each.fault for each in passes if each.fault is not None), verdict.fault)
    if fault is not None:
        return replace(verdict, fault=fault, unreached=_unreached(notebook, passes, fault))
    failed = [each.failed for each in passes if each.failed is not None]
    if not failed:
        return verdict
    cell, error = min(failed, key=lambda each: each[0].index)
    if len(failed) < len(passes) and not options.rerun:
        error += ", not in every run"
    reason = f"{cell.name} raises {error}"
    verdict = replace(verdict, unreached=_unreached(notebook, passes, reason), failed=(cell, error))
    if verdict.first is None:
        fault = f"{reason}; if it may, give the cell the tag {RAISES}"
        verdict = replace(verdict, fault=fault, line=notebook.line(cell))
    return verdict


def _unreached(notebook: Notebook, passes: Sequence[Pass], reason: str) -> Unreached | None:
    """Count the unreached cells; None if there are none, or a pass reached none."""
    wanted = {cell.index for cell in notebook.runnable}
    reached = set.intersection(*(each.begun for each in passes))
    left = wanted - reached
    return Unreached(len(left), len(wanted), reason) if reached and left else None


class Progress(Watcher):
    """A bar for the cells of all notebooks.

    Args:
        show: Called with the bar as a line, and with an empty line when a notebook ends.
    """

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show, self._made, self._steps, self._what = show, 0, 0, ""

    def begin(self, path: Path, steps: int, trying: str = "") -> None:
        """Show the notebook, or the edits that are tried."""
        self._steps, self._what = self._steps + steps, trying or path.name
        self._show(bar(self._made, self._steps, self._what))

    def step(self, path: Path) -> None:  # noqa: ARG002 -- one bar for all
        """Advance the bar by one run of a cell."""
        self._made += 1
        self._show(bar(self._made, self._steps, self._what))

    def end(self, verdict: Verdict) -> None:  # noqa: ARG002 -- the report has all verdicts
        """Clear the line."""
        self._show("")


def show_line(line: str) -> None:
    """Draw a line on standard error, over the line before."""
    sys.stderr.write(f"\r{set_width(line, width() - 1)}\r")
    sys.stderr.flush()


def check_on_engines(
    paths: Sequence[Path], options: Options, watcher: Watcher, way: Way, profile: str
) -> list[Verdict]:
    """Check notebooks on engines; if one dies, another takes over its notebooks.

    An interrupt ends all checks. Unfinished notebooks are reported as interrupted. Standard error
    gets a sentence when an engine dies.

    Args:
        paths: The notebooks.
        options: How to run them.
        watcher: Called when a notebook starts and ends.
        way: The check to run on each notebook.
        profile: The profile of the cluster; empty for ``default``.

    Returns:
        A verdict for each notebook, in the order of ``paths``.

    Raises:
        LookupFailure: No cluster answers, or ipyparallel is not installed.
    """
    verdicts: dict[str, Verdict] = {}

    def done(name: str, came: Verdict | LookupFailure) -> None:
        if isinstance(came, LookupFailure):
            came = Verdict(Path(name), fault=str(came))
        verdicts[name] = came
        watcher.step(came.path)
        watcher.end(came)

    with closing(connect(profile)) as client, suppress(KeyboardInterrupt):
        for path in paths:
            watcher.begin(path, 1)
        tasks = {str(path): (str(path), str(Path.cwd()), options, way) for path in paths}
        spread(client, check_there, tasks, done=done, told=partial(print, file=sys.stderr))
    return [verdicts.get(str(path), Verdict(path, fault=INTERRUPTED)) for path in paths]


def check_there(path: str, folder: str, options: Options, way: Way) -> Verdict:
    """Check a notebook. This runs on the engine.

    Args:
        path: The notebook, as the user named it.
        folder: The user's working folder, which ``path`` may be relative to.
        options: How to run it.
        way: The check to run.
    """
    try:
        with chdir(folder):
            return check([Path(path)], options, Watcher(), way)[0]
    except OSError as error:
        msg = f"{folder} is missing on this engine ({error.strerror}): engines must share it"
        return Verdict(Path(path), fault=msg)
