"""``ipytorchseed doctor``: shows what is installed and what does not work."""

from __future__ import annotations

import getpass
import os
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import click
from msgspec import Struct
from msgspec.json import encode
from packaging.requirements import Requirement
from packaging.version import Version

from ipytorchseed import __version__
from ipytorchseed.commands import in_json
from ipytorchseed.errors import SourceError
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.render.text import visible, wrap
from ipytorchseed.why.words import many

# The versions of packages by name; None for those that are not installed.
Versions = dict[str, str | None]

# Optional packages that matter if they are installed.
_BESIDE = ("jupyterlab", "notebook", "jupyter-server", "papermill", "ipyparallel")

# An absolute path with at least two parts.
_PATH = lazy_pattern(r"(?<![\w<~>])(/[^\s/:,'\"]+){2,}")


class Finding(Struct, frozen=True):
    """A problem, or something good to know.

    Attributes:
        level: ``problem`` if something does not work; else ``note``.
        which: The package, file or setting that the finding is about.
        what: What is wrong, as the rest of the sentence.
        fix: What to do; or empty.
    """

    level: Literal["problem", "note"]
    which: str
    what: str
    fix: str = ""

    @property
    def line(self) -> str:
        """The finding as one line."""
        return f"{self.which}: {self.what}{f' – {self.fix}' if self.fix else ''}"


_problem, _note = partial(Finding, "problem"), partial(Finding, "note")


class Health(Struct, frozen=True):
    """The state of the ledger.

    Attributes:
        path: The path of the ledger, even if there is none yet.
        state: Whether the ledger can be used.
        runs: The number of runs.
        bytes: The size of the ledger's file.
    """

    path: str
    state: Literal["sound", "none yet", "unusable", "damaged"]
    runs: int = 0
    bytes: int = 0

    @property
    def line(self) -> str:
        """The state and the size of the ledger."""
        size = f", {self.runs:,} runs, {self.bytes / 1e6:.1f} MB"
        return f"{self.state}{size if self.runs else ''}"


@click.command()
@in_json()
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool) -> None:
    """Report what is installed and what does not work.

    Run it in the notebook's folder, with the Python of its kernel: in a cell, `!ipytorchseed
    doctor`. It ends with a block to copy into an issue, and exits with 1 if something does not
    work.
    """
    versions: Versions = {"python": platform.python_version()}
    versions |= {name: _version(name) for name in ("ipytorchseed", *_needed(), *_BESIDE)}
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    ledger, found = _ledger()
    for look in (_missing, _shadows, _environment, _other_extensions, _other_pythons, _widgets):
        found += look()
    found.sort(key=lambda each: each.level == "note")
    block = _block(versions, system, ledger, found)
    if as_json:
        told = {"versions": versions, "system": system, "ledger": ledger, "findings": found}
        click.echo(encode({"schema": 1, **told, "block": block}))
    else:
        click.echo(f"{_text(ledger, found)}\n{block}")
    ctx.exit(any(each.level == "problem" for each in found))


# --------------------------------------------------------------------------------------------------
# Installed


def _needed() -> dict[str, Requirement]:
    """Return our requirements by name, from the metadata of the installed package."""
    with suppress(PackageNotFoundError):
        needed = map(Requirement, requires("ipytorchseed") or ())
        return {each.name: each for each in needed if each.marker is None}
    return {}  # run from a folder, not installed


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return __version__ if name == "ipytorchseed" else None


def _missing() -> Iterator[Finding]:
    for name, needed in _needed().items():
        has = _version(name)
        if has is None or not needed.specifier.contains(has, prereleases=True):
            what = "is not installed" if has is None else f"{has} is too old"
            yield _problem(name, what, f'pip install "{name}{needed.specifier}"')


def _widgets() -> Iterator[Finding]:
    lab, widgets = _version("jupyterlab"), _version("ipywidgets")
    if lab and widgets and Version(lab).major > 3 and Version(widgets).major < 8:  # noqa: PLR2004
        what = f"{widgets} cannot draw widgets in JupyterLab {lab}; %rng shows only its table"
        yield _note("ipywidgets", what, 'pip install "ipywidgets>=8"')


# --------------------------------------------------------------------------------------------------
# Problems


def _shadows() -> Iterator[Finding]:
    """Yield findings on files of the working folder that shadow a library."""
    needed = {name.lower().replace("-", "_") for name in _needed()}
    hidden = {*needed, "IPython", "ipytorchseed", *sys.stdlib_module_names}
    try:
        here = sorted(Path.cwd().iterdir())
    except OSError as error:
        return (yield _problem("the working folder", f"cannot be read: {error.strerror}"))
    for path in here:
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        if is_module and path.stem in hidden and path.name != "ipytorchseed":  # our repository
            what = f"is imported instead of the library {path.stem}, in kernels that start here"
            yield _problem(path.name, what, "rename it")


def _environment() -> Iterator[Finding]:
    """Yield findings on environment variables of torch and this process."""
    from ipytorchseed.determinism.assessment import Standing, assess

    try:
        assessment = assess()
    except SourceError:
        return  # the working folder was removed, which is reported
    except Exception as error:  # noqa: BLE001 -- a torch that does not load raises anything
        first = str(error).partition("\n")[0] or type(error).__name__
        return (yield _problem("torch", f"does not load: {first}", "reinstall torch"))
    for each in assessment.problems:
        if each.standing is Standing.LATE:
            fix = "ipytorchseed kernel install makes a kernel that has it"
            yield _note(each.flag.name, f"{each.value}: {each.flag.risk}", fix)


def _other_extensions() -> Iterator[Finding]:
    """Yield findings on extensions and startup files of IPython's default profile."""
    from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

    ipython = Path(os.environ.get("IPYTHONDIR") or Path.home() / ".ipython", "profile_default")
    loaded: list[str] = []
    for name in ("ipython_config.py", "ipython_kernel_config.py"):
        try:
            config = PyFileConfigLoader(name, str(ipython)).load_config()
        except ConfigFileNotFound:
            continue
        except Exception as error:  # noqa: BLE001 -- the user's code
            yield _problem(name, f"raises {type(error).__name__}: {error}", "fix it")
            continue
        for app in ("InteractiveShellApp", "IPKernelApp", "TerminalIPythonApp"):
            found = config[app].get("extensions") if app in config else None
            loaded += found if isinstance(found, list) else []
    for name in dict.fromkeys(loaded):
        if name != "ipytorchseed" and find_spec(name.partition(".")[0]) is None:
            what = "the profile loads it, but it is not installed"
            yield _note(name, what, f"remove it from {ipython}")
    scripts = ", ".join(each.name for each in sorted((ipython / "startup").glob("*.*py")))
    if scripts:
        what = f"{scripts} run before the first cell and are not recorded"
        yield _note("startup files", what, "look for seeds and patches in them")


def _other_pythons() -> Iterator[Finding]:
    """Yield findings on Jupyter kernels that run another Python than this one."""
    from jupyter_client.kernelspec import KernelSpecManager

    for name, each in KernelSpecManager().get_all_specs().items():
        python = str(next(iter(each["spec"]["argv"]), ""))
        if each["spec"]["language"] != "python" or not Path(python).is_absolute():
            continue
        if not Path(python).exists():
            yield _note(f"kernel {name}", f"{python} is gone", "remove the kernel")
        elif os.path.abspath(python) != os.path.abspath(sys.executable):  # noqa: PTH100 -- no links
            what = f"runs {python}, not this Python"
            yield _note(f"kernel {name}", what, f"{python} -m ipytorchseed doctor")


def _ledger() -> tuple[Health, list[Finding]]:
    """Open the ledger as a notebook would, without changing it."""
    from ipytorchseed.errors import LedgerError
    from ipytorchseed.ledger.place import ENVIRONMENT, ledger_path, refuse_unsafe
    from ipytorchseed.ledger.store import Ledger

    path = ledger_path()
    there = next(each for each in (path, *path.parents) if each.exists())
    unusable = Health(str(path), "unusable")
    if not os.access(there, os.W_OK):
        fix = f"make it writable, or name another folder in {ENVIRONMENT}"
        return unusable, [_problem("ledger", f"{there} cannot be written", fix)]
    try:
        refuse_unsafe(path)
        if there != path:
            return Health(str(path), "none yet"), []
        with Ledger.open(path, read_only=True) as ledger:
            held, wrong = ledger.counts(), ledger.verify()
    except (LedgerError, OSError) as error:
        what, _, fix = str(error).partition(": ")
        return unusable, [_problem("ledger", what, fix)]
    fix = "move it away: a new one will be created"
    damaged = [_problem("ledger", f"is damaged: {each}", fix) for each in wrong[:1]]
    return Health(str(path), "damaged" if wrong else "sound", held.runs, held.bytes), damaged


# --------------------------------------------------------------------------------------------------
# Output


def _text(ledger: Health, found: list[Finding]) -> str:
    """Return the findings, up to the block for an issue."""
    problems = [wrap(each.line, "  ✗ ") for each in found if each.level == "problem"]
    notes = [wrap(each.line, "  · ") for each in found if each.level == "note"]
    lines = [f"{many(len(problems), 'problem')}:" if problems else "No problems found.", *problems]
    lines += ["", "Good to know:", *notes] if notes else []
    lines += ["", f"Ledger: {visible(ledger.path)}, {ledger.line}"]
    return "\n".join([*lines, "", "To copy into an issue:", ""])


def _block(versions: Versions, system: str, ledger: Health, found: list[Finding]) -> str:
    """Return a block for an issue, without the user's name or paths."""
    from ipytorchseed.ledger.place import ENVIRONMENT

    has = [f"{name} {number}" for name, number in versions.items() if number]
    place = f"where {ENVIRONMENT} says" if os.environ.get(ENVIRONMENT) else "in its usual place"
    said = [wrap(", ".join(has), ""), system, f"ledger {place}: {ledger.line}"]
    folder = str(Path(ledger.path).parent)
    said += [wrap(_anonymous(each.line, folder), f"{each.level}: ") for each in found]
    return "\n".join(["```text", *said, "```"])


def _anonymous(text: str, ledger: str) -> str:
    """Replace the user's folders by their roles, and remove the user's name."""
    places = {ledger: "<ledger>", sys.prefix: "<python>"}
    with suppress(OSError):  # the folder was removed
        places[os.path.abspath(os.curdir)] = "<here>"  # noqa: PTH100 -- with links, as in messages
    with suppress(RuntimeError):  # a user without a home folder
        places[str(Path.home())] = "~"
    for place, name in sorted(places.items(), key=lambda each: -len(each[0])):
        text = text.replace(place, name) if len(place) > 1 else text
    text = _PATH.sub(lambda found: "…/" + Path(found[0]).name, text)
    with suppress(Exception):  # a user without a name
        text = re.sub(rf"\b{re.escape(getpass.getuser())}\b", "<user>", text)
    return text
