"""``ipytorchseed check``: whether a notebook is reproducible, and if not, why."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from ipytorchseed.commands import RUNS, Number, Place, Seed, Whole, flag, in_json, option, written

# Colours of the lines of a diff, by their first character.
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}

_HIDDEN = ".ipynb_checkpoints"


def is_receipt(path: Path) -> bool:
    """Return whether a file is a receipt, which a command may overwrite."""
    from ipytorchseed.receipts.receipt import is_receipt

    return is_receipt(path)


def is_junit(path: Path) -> bool:
    """Return whether a file is a JUnit report, by any program."""
    from xml.etree import ElementTree as ET

    with suppress(OSError, ET.ParseError), path.open("rb") as file:
        _, root = next(ET.iterparse(file, ["start"]))  # noqa: S314 -- only its first tag is read
        return root.tag in {"testsuite", "testsuites"}
    return False


_PATH, _SECONDS = Place(path_type=Path), Number(min=0, min_open=True)


class _CheckCommand(click.Command):
    """A command in which ``--engines`` may be followed by a profile."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for at, (word, after) in enumerate(pairwise([*args])):
            notebook = after.endswith(".ipynb") or os.path.exists(after)  # noqa: PTH110 -- no path yet
            if word == "--engines" and notebook:
                args[at] = "--engines="
        return super().parse_args(ctx, args)


@click.command(cls=_CheckCommand)
@click.argument("notebooks", nargs=-1, required=True, metavar="NOTEBOOK...", type=_PATH)
@option("--runs", "N", "Fresh kernels for each notebook.", RUNS, default=2)
@option("--seed", "N", "Seed python, numpy and torch with N before the first cell.", Seed())
@flag("--rerun", "Run all cells in one kernel, then each again from last to first, and compare.")
@flag("--strict", "Count cells with the same output but different variables as different.")
@flag("--fix", "Write the few edits that make a notebook repeat, if it repeats with them.")
@flag("--diff", "Show the edits that --fix would write; write nothing, even with --fix.")
@flag("--tag", "With --fix or --diff: add the tag ipytorchseed-varies to cells that no edit fixes.")
@flag("--yes", "With --fix: also write files that git could not restore.")
@flag("--saved", "In one fresh kernel, check whether the outputs in the file are still true.")
@option("--rtol", "R", "With --saved: ignore relative differences of up to R.", Number(min=0))
@written(
    "--receipt",
    "Record a run in a fresh kernel, for comparison on other machines.",
    "a receipt",
    is_receipt,
)
@option("--against", "FILE", "In one fresh kernel, compare a run with a receipt.", _PATH)
@in_json()
@written("--junit", "Also write the report as JUnit XML, for CI.", "a JUnit report", is_junit)
@option("--timeout", "S", "Seconds that a cell may take; no limit by default.", _SECONDS)
@option(
    "-j --jobs",
    "N",
    "How many kernels run at the same time, all in the same folder.",
    Whole(min=1),
    default=1,
)
@option("--engines", "[PROFILE]", "Use the engines of this ipyparallel cluster.", alone="")
@option("--kernel", "NAME", "The kernel to use instead of the one a notebook names.")
@click.pass_context
def check(  # noqa: PLR0913 -- click passes each option by its name
    ctx: click.Context,
    /,
    *,
    notebooks: Sequence[Path],
    fix: bool,
    diff: bool,
    tag: bool,
    yes: bool,
    receipt: Path | None,
    against: Path | None,
    as_json: bool,
    junit: Path | None,
    engines: str | None,
    **how: Any,
) -> None:
    """Find the cell that differs first between fresh kernels, and why.

    Each NOTEBOOK runs in separate kernels. A folder means all notebooks in it. Only --fix changes
    notebooks. Outputs decide: if all outputs are equal, the notebook repeats. Exits with 0 if every
    notebook repeats, 1 if one differs, 2 if one could not be checked.

    With --saved, one run is compared with the outputs in the file, number by number. Outputs
    that differ only by rounding (1e-5 at most) are reported, and count as still true. With --rtol,
    R is the limit.

    With --receipt, the record of one run is written to FILE. With --against, one run is compared
    with such a FILE from another machine. It differs if any bit differs; the report says whether
    that is rounding.

    With --engines, notebooks are spread over the engines of the cluster that runs under PROFILE,
    or under the profile named default. The engines need to share the notebooks' folder.
    """
    from ipytorchseed.checking import report, running
    from ipytorchseed.checking.fixing import fix_notebook
    from ipytorchseed.checking.kernel import Options
    from ipytorchseed.receipts.privacy import Places
    from ipytorchseed.receipts.receipt import read

    paths = _found(notebooks)
    _consistent(ctx, paths)
    save = fix and not diff
    if save and not yes and sys.stdin.isatty() and sys.stderr.isatty():
        save = yes = _may_write(paths)
        diff = not save
    fixing = partial(fix_notebook, save=save, tag=tag, anyway=yes)
    way = fixing if fix or diff else running.check_one
    there = read(against, Places.here(str(paths[0]))) if against else None
    written = receipt is not None
    options = Options(**how, against=there, receipt=written, prove=way is running.check_one)
    _writable("--junit", junit)
    _writable("--receipt", receipt)
    watcher = running.Progress(running.show_line) if sys.stderr.isatty() else running.Watcher()
    if engines is None:
        verdicts = running.check(paths, options, watcher, way)
    else:
        verdicts = running.check_on_engines(paths, options, watcher, way, engines)
    on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    said = [report.as_json(verdicts) if as_json else report.text(verdicts)]
    if diff and not as_json:
        said += [click.style(it, fg=_COLOURS.get(it[:1])) for it in report.diffs(verdicts)]
    if on_github and not as_json:
        # GitHub must not run workflow commands in a notebook's text:
        # https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
        word = secrets.token_hex(16)
        said = [f"::stop-commands::{word}", *said, f"::{word}::"]
    click.echo("\n".join(said))
    if receipt is not None and verdicts[0].receipt and verdicts[0].fault is None:
        receipt.write_bytes(verdicts[0].receipt)
    elif receipt is not None and receipt.is_file() and not receipt.stat().st_size:
        receipt.unlink()  # created by _writable
    if junit is not None:
        junit.write_text(report.as_junit(verdicts), encoding="utf-8")
    for line in report.annotate(verdicts) if on_github else ():
        click.echo(line, err=as_json)
    ctx.exit(max(each.exit_code for each in verdicts))


# Options that need one of some other options.
_GOES_WITH = {"tag": ("fix", "diff"), "yes": ("fix",), "rtol": ("saved",)}

_ONCE, _AS_IT_IS = "runs each notebook once", "tests the notebook unchanged"

# Options, the options that they exclude, and why.
_NOT_WITH = {
    "fix": (("rerun", "seed"), _AS_IT_IS),
    "diff": (("rerun", "seed"), _AS_IT_IS),
    "saved": (("runs", "rerun", "strict", "fix", "diff", "receipt", "against"), _ONCE),
    "against": (("runs", "rerun", "fix", "diff"), _ONCE),
    "receipt": (("runs", "rerun", "strict", "fix", "diff"), _ONCE),
}


def _found(named: Sequence[Path]) -> list[Path]:
    """Return the named notebooks, and the notebooks in named folders, each once."""
    paths: dict[Path, None] = {}
    for path in named:
        # A folder with the name of a notebook is reported by the check.
        if path.suffix == ".ipynb" or not os.path.isdir(path):  # noqa: PTH112 -- no error
            paths[path] = None
            continue
        inside = sorted(each for each in path.rglob("*.ipynb") if _HIDDEN not in each.parts)
        if not inside:
            raise click.UsageError(f"there is no notebook in the folder {path}")
        paths.update(dict.fromkeys(inside))
    return list(paths)


def _may_write(paths: Sequence[Path]) -> bool:
    """Ask whether to write edits that git could not undo; return the answer."""
    from ipytorchseed.checking.fixing import unsaved

    lines = [f"{path}: {why}" for path in paths if (why := unsaved(path))]
    words = "\n".join([*lines, "Write it anyway? Otherwise the edits are only shown"])
    return not lines or click.confirm(words, err=True)


def _consistent(ctx: click.Context, paths: Sequence[Path]) -> None:
    """Refuse options that contradict each other.

    Raises:
        UsageError: Two options contradict each other, or an option needs another one.
    """
    given = ctx.params
    for word, others in _GOES_WITH.items():
        if given[word] not in (None, False) and not any(given[each] for each in others):
            raise click.UsageError(f"--{word} needs {' or '.join(f'--{it}' for it in others)}")
    for word, (others, why) in _NOT_WITH.items():
        for name in others if given[word] else ():
            if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{word} and --{name} cannot be combined: --{word} {why}")
    if (given["receipt"] or given["against"]) and len(paths) > 1:
        fault = f"--receipt and --against take one notebook, not {len(paths)}: name one"
        raise click.UsageError(fault)


def _writable(option: str, path: Path | None) -> None:
    """Check that a file can be written, before hours of work depend on it.

    Raises:
        UsageError: The file cannot be written.
    """
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise click.UsageError(f"{option}: {path} cannot be written: {error.strerror}") from None
