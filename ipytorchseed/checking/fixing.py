"""``check --fix``: searches for the fewest edits that make a notebook repeat."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.checking.causes import for_notebook
from ipytorchseed.checking.notebook import RAISES, Notebook, read, read_text
from ipytorchseed.checking.program import TAG, Edit, Edits, Program, edit_file, write
from ipytorchseed.checking.remedies import UNRECORDED, FixTarget, chosen_seed, obstacle, propose
from ipytorchseed.checking.running import Setup, run
from ipytorchseed.checking.verdict import CellVerdict, Verdict
from ipytorchseed.errors import UncheckableError
from ipytorchseed.why.explanation import Cause

Key = tuple[int, str, str]


# Fresh kernels that must agree before a notebook counts as repeating.
_PROOF = 3

# The maximum number of sets of edits to try for one cause.
_TRIES = 2

# At most this many files of a notebook's folder are listed, to recognise those that it creates.
_MOST_FILES = 20_000


async def fix_notebook(
    path: Path, setup: Setup, *, save: bool, tag: bool, anyway: bool = False
) -> Verdict:
    """Find the edits that make a notebook repeat: ``--fix``, ``--diff``, ``--tag``.

    Args:
        path: The notebook.
        setup: How to run it.
        save: Whether to write the edits to the file, once, at the end.
        tag: Whether to tag cells that no edit fixes with ``VARIES``.
        anyway: Whether to write even a file that git could not restore.

    Returns:
        The verdict on the resulting file.

    Raises:
        UncheckableError: The notebook cannot be read or written.
    """
    notebook, own_file = read(path), _remember_files(path)
    if save and not _may_write(path):
        raise UncheckableError("it is read-only: no edit can be written")
    if save and not anyway and (why := unsaved(path)):
        raise UncheckableError(f"{why}; `--yes` writes it anyway, `--diff` shows it")
    found = for_notebook(notebook, replace(await run(notebook, setup), edits=()))
    if found.reproducible is not False:
        return found
    if _stopped(found):
        said = "it does not run to the end, so it cannot be shown to repeat"
        if found.failed is not None:
            said += f"; if {found.failed[0].name} may raise, give it the tag {RAISES}"
        return replace(found, obstacles=[said])
    search, verdict = _Search(Program(notebook), own_file, tag), found
    while verdict.reproducible is not True:
        if not search.advance(verdict):
            return replace(found, obstacles=search.obstacles or search.name_obstacles(found))
        tried, took = search.edits, verdict.seconds
        verdict = await _try(notebook, setup, tried, took) if tried else found
    edits, verdict = await _leave_out(notebook, setup, search.edits, verdict)
    if not save:
        return replace(found, edits=edits, seconds=verdict.seconds)
    try:
        write(path, notebook.text, edit_file(notebook.text, edits))
    except OSError as error:
        raise UncheckableError(f"its edits cannot be written: {error.strerror}") from None
    return replace(verdict, edits=edits, written=True)


def unsaved(path: Path) -> str:
    """Return why git could not undo an edit of a file, as a clause; empty if it can.

    Args:
        path: The file.
    """
    target = Path(os.path.realpath(path))
    words = "git --literal-pathspecs status --porcelain --ignored --"
    command = [*words.split(), target.name]
    try:
        said = subprocess.run(  # noqa: S603 -- git, with the name of a file
            command, cwd=target.parent, capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        why = "git does not run here"
    else:
        why = "it has uncommitted changes" if said.stdout[1:2].strip() else ""
        if said.returncode or said.stdout[:2] in {"??", "!!"}:
            why = "it is not in a git repository" if said.returncode else "git does not track it"
    return why and f"{why}, so the edit could not be undone"


async def _try(notebook: Notebook, setup: Setup, edits: Sequence[Edit], took: float) -> Verdict:
    """Run a notebook with edits in fresh kernels, until two runs differ.

    Args:
        notebook: The notebook without edits.
        setup: How to run it.
        edits: The edits.
        took: The seconds that earlier runs took; the verdict has the sum.
    """
    edited = read_text(notebook.path, edit_file(notebook.text, edits))
    trying = f"trying {', '.join(f'{each.kind} in {each.cell.name}' for each in edits)}"
    setup = replace(setup, options=replace(setup.options, quick=True, runs=_PROOF))
    async with AsyncExitStack() as stack:
        if any(each.kind == "file" for each in edits):
            # one kernel after the other: they remove each other's files
            await stack.enter_async_context(setup.places)
            setup = replace(setup, places=asyncio.Semaphore(1))
        verdict = await run(edited, setup, trying)
    return replace(verdict, seconds=took + verdict.seconds)


async def _leave_out(
    notebook: Notebook, setup: Setup, edits: list[Edit], verdict: Verdict
) -> tuple[list[Edit], Verdict]:
    """Leave out each edit without which the notebook repeats; return the rest."""
    for edit in [*edits]:
        rest = [each for each in edits if each is not edit]
        if rest:
            tried = await _try(notebook, setup, rest, verdict.seconds)
            edits = rest if tried.reproducible else edits
            verdict = replace(tried if tried.reproducible else verdict, seconds=tried.seconds)
    return edits, verdict


def _may_write(path: Path) -> bool:
    """Return whether a file and its mode allow writing (root may ignore the mode)."""
    return os.access(path, os.W_OK) and bool(path.stat().st_mode & 0o222)


def _stopped(verdict: Verdict) -> bool:
    """Return whether a notebook did not run to its end."""
    return verdict.fault is not None or verdict.failed is not None


class _Search(Struct):
    """A search for the edits that make a notebook repeat.

    Attributes:
        program: The notebook's code.
        own_file: See ``FixTarget.own_file``.
        tag: Whether to tag cells that no edit fixes.
        proposed: The edits that were not tried yet, for each cause.
        chosen: The edits that are tried now.
        recent: The causes whose edits were chosen last.
        before: The identities of the edits in the last trial.
        obstacles: A line for each cell that no edit fixes.
    """

    program: Program
    own_file: Callable[[str], str]
    tag: bool
    proposed: dict[Key, list[Edits]] = {}
    chosen: dict[Key, Edits] = {}
    recent: list[Key] = []
    before: set[object] = set()
    obstacles: list[str] = []

    @property
    def edits(self) -> list[Edit]:
        """The edits chosen now, each once, in the order of the cells."""
        chosen = reversed(self.chosen.values())
        found = {_identity(edit): edit for edits in chosen for edit in edits}
        return sorted(found.values(), key=lambda each: (each.cell.index, each.splices[:1]))

    def advance(self, verdict: Verdict) -> bool:
        """Choose the next edits after a trial; return whether there is more to try.

        Args:
            verdict: The verdict on the notebook with the edits chosen now.
        """
        self.before = {*map(_identity, self.edits)}
        if _stopped(verdict):
            blamed, self.recent = self._blamed(verdict), []
            for key in blamed:
                self._next(key)
            return bool(blamed)
        self.recent = []
        for shown, origin, causes in _roots(verdict):
            targets = [self._site(verdict, origin, cause) for cause in causes]
            tried, said = [*map(self._try, targets)], obstacle(targets[0])
            key = shown.cell.index, TAG, ""
            if self.tag and not any(tried):
                if key not in self.chosen:
                    cell = self.program.of(shown.cell).cell
                    self.chosen[key] = (Edit(cell, TAG, f"marks what varies. {said}"),)
                    self.recent.append(key)
            elif not any(tried) and said not in self.obstacles:
                self.obstacles.append(said)
        return bool(self.recent) and not self.obstacles

    def name_obstacles(self, verdict: Verdict) -> list[str]:
        """Return a line on each cell where a difference starts that no edit fixed."""
        roots = [self._site(verdict, origin, causes[0]) for _, origin, causes in _roots(verdict)]
        return [*dict.fromkeys(map(obstacle, roots))]

    def _site(self, verdict: Verdict, origin: CellVerdict, cause: Cause) -> FixTarget:
        seed = chosen_seed(self.program)
        return FixTarget(self.program, origin, cause, seed, self.own_file, verdict.cells)

    def _try(self, target: FixTarget) -> bool:
        """Choose edits for a cause; return whether there were any."""
        key = target.found.cell.index, target.cause.kind, target.cause.name
        if key not in self.proposed:
            self.proposed[key] = propose(target)[:_TRIES]
        return key in self.recent or self._next(key)

    def _blamed(self, verdict: Verdict) -> list[Key]:
        """Return the latest choices that may have caused a cell to fail."""
        failed = verdict.failed and verdict.failed[0].index
        places = {key: {edit.cell.index for edit in self.chosen[key]} for key in self.recent}
        near = [key for key in self.recent if failed in {key[0], *places[key]}]
        return near or self.recent

    def _next(self, key: Key) -> bool:
        """Choose the cause's next proposal that adds an edit."""
        self.chosen.pop(key, None)
        while self.proposed[key]:
            proposal = self.proposed[key].pop(0)
            if not self.before.issuperset(map(_identity, proposal)):
                self.chosen[key] = proposal
                self.recent.append(key)
                return True
        return False


def _identity(edit: Edit) -> object:
    """Return the identity of an edit: several causes may need the same edit."""
    return edit.cell.index, edit.kind, edit.splices


def _roots(verdict: Verdict) -> Iterator[tuple[CellVerdict, CellVerdict, Sequence[Cause]]]:
    """Yield each cell that differs, a cell where its difference starts, and causes."""
    for shown in verdict.differing:
        for origin, causes in reversed(verdict.find_origins(shown)):
            yield shown, origin, causes or origin.causes or (UNRECORDED,)


def _remember_files(path: Path) -> Callable[[str], str]:
    """List the files that exist now; return a function that recognises later ones.

    Args:
        path: The notebook; the files in its folder and subfolders are listed.

    Returns:
        The function for ``FixTarget.own_file``.
    """
    inside, files = f"{path.absolute().parent}{os.sep}", set[str]()
    for folder, _, names in os.walk(path.absolute().parent, followlinks=True):
        files.update(f"{folder}{os.sep}{name}" for name in names)
        if len(files) >= _MOST_FILES:
            break

    def own_file(name: str) -> str:
        known = len(files) < _MOST_FILES and name.startswith(inside) and name not in files
        return name.removeprefix(inside) if known else ""

    return own_file
