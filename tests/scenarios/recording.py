"""Recordings of played scenarios, by which ``%why`` is tested without kernels.

``make record`` plays scenarios and writes the records of their kernels, in a file for each initial
letter. The file ``GENERATION`` contains a digest of the code that records. If that code changes, the
recordings are stale: a test fails, and ``make record`` plays all scenarios again.
"""

from __future__ import annotations

import ast
import json
import lzma
from contextlib import suppress
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh3_64_hexdigest

from ipytorchseed.ledger.records import Findings, Run, Trace
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.render.why import WhyView
from ipytorchseed.rng.table import hints_kept, remember
from ipytorchseed.session.asking import why
from ipytorchseed.session.identity import Identity
from ipytorchseed.session.session import Session
from tests.scenarios.scenario import Scenario, judge, read_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tests.kernel import Kernel

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "why" / "recorded"
GENERATION = FOLDER / "GENERATION"

# The code that records consists of these modules and the modules that they import.
RECORDERS = ("session/session.py", "ledger/store.py", "trace/recorder.py", "notebook/runs.py")


class Recording(Struct, frozen=True):
    """What kernels recorded while a scenario was played.

    Attributes:
        played: The scenario's digest when it was played.
        counts: The number in ``In[...]`` of each step. Steps are counted from 1.
        asked: The number of the run in question.
        runs: All runs, the oldest first.
        states: The full states of sources at these runs, by digest.
        traces: The recorded operations of runs, by the run's number.
        seeds: The seeds that were applied last, the latest first.
        findings: The findings of experiments, each with the numbers of the two runs.
    """

    played: str
    counts: dict[int, int | None]
    asked: int
    runs: list[Run]
    states: dict[str, bytes]
    traces: dict[int, list[Trace]]
    seeds: tuple[int, ...]
    findings: tuple[tuple[int, int, Findings], ...] = ()


def with_findings(kernel: Kernel, recording: Recording) -> Recording:
    """Return a recording with the findings that the ledger has now."""
    with Ledger.open(kernel.ledger, read_only=True) as ledger:
        pairs = permutations((run.id or 0 for run in recording.runs), 2)
        found = ((*pair, ledger.findings(*pair)) for pair in pairs)
        return replace(recording, findings=tuple(each for each in found if each[2] is not None))


def record(kernel: Kernel, scenario: Scenario, counts: dict[int, int | None]) -> Recording:
    """Return the recording of a scenario, before ``%why`` is asked.

    Args:
        kernel: The kernel that ran last.
        scenario: The scenario that was played.
        counts: The number in ``In[...]`` of each step. Steps are counted from 1.
    """
    seeds = kernel.value("__import__('ipytorchseed.rng.table', fromlist=['x']).recent_seeds()")
    with Ledger.open(kernel.ledger, read_only=True) as ledger:
        runs = [*ledger.runs()][::-1]
        states = ledger.states(sorted(_states_that_moved(runs)))
        traces = ledger.traces(run.id for run in runs if run.id is not None)
    asked = max(run.id or 0 for run in runs if run.cell == scenario.ask)
    return Recording(scenario.digest, counts, asked, runs, states, traces, seeds)


def _states_that_moved(runs: Iterable[Run]) -> set[str]:
    """Return the digests of states of sources that changed in some run."""
    seen: dict[str, set[str]] = {}
    for run in runs:
        for name, digest in (*run.before.items(), *run.after.items()):
            seen.setdefault(name, set()).add(digest)
    return {digest for digests in seen.values() if len(digests) > 1 for digest in digests}


# --------------------------------------------------------------------------------------------------
# Files


def path_of(name: str) -> Path:
    """Return the file for the recordings of scenarios with the same initial letter."""
    return FOLDER / f"{name[0]}.xz"


def save(recordings: Mapping[str, Recording]) -> None:
    """Write recordings, by the scenario's name, and replace existing ones.

    Recordings of scenarios that no longer exist are dropped.
    """
    FOLDER.mkdir(exist_ok=True)
    known = {scenario.name for scenario in read_all()}
    for path in {path_of(name) for name in known | {*recordings}} | {*FOLDER.glob("*.xz")}:
        kept = {**_read(path), **recordings}
        kept = {
            name: kept[name] for name in sorted(kept) if name in known and path_of(name) == path
        }
        content = lzma.compress(msgspec.msgpack.encode(kept), preset=9)
        if not kept:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
    _read.cache_clear()


def load(scenario: Scenario) -> Recording | None:
    """Return the recording of a scenario, or None if it is missing or outdated."""
    recording = _read(path_of(scenario.name)).get(scenario.name)
    return recording if recording is not None and recording.played == scenario.digest else None


@cache
def _read(path: Path) -> dict[str, Recording]:
    """Return the recordings in a file; empty if it is missing or has an old format."""
    with suppress(FileNotFoundError, msgspec.MsgspecError):
        return msgspec.msgpack.decode(lzma.decompress(path.read_bytes()), type=dict[str, Recording])
    return {}


def generation() -> str:
    """Return a digest of the code that records, without docstrings and comment lines.

    The lines are hashed, not syntax trees, so that the digest is the same in all versions of Python.
    """
    package = ROOT / "ipytorchseed"
    pending, texts = [package / name for name in RECORDERS], dict[Path, list[str]]()
    while pending:
        path = pending.pop()
        if path not in texts:
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
            pending += _imported(tree, package)
            texts[path] = _code_lines(text, tree)
    content = sorted((path.relative_to(package).as_posix(), lines) for path, lines in texts.items())
    return xxh3_64_hexdigest(repr(content).encode())


def _imported(tree: ast.AST, package: Path) -> Iterator[Path]:
    """Yield the files of our modules that a module imports, even inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ipytorchseed."):
            module = package.joinpath(*node.module.split(".")[1:])
            members = [module / f"{alias.name}.py" for alias in node.names]
            files = [module.with_suffix(".py"), module / "__init__.py", *members]
            yield from (path for path in files if path.exists())


def _code_lines(text: str, tree: ast.AST) -> list[str]:
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [line for number, line in lines if line and line[0] != "#" and number not in skipped]


def recorded_generation() -> str:
    """Return the digest of the code that wrote the recordings, or "" without any."""
    with suppress(FileNotFoundError):
        return GENERATION.read_text(encoding="utf-8").strip()
    return ""


# --------------------------------------------------------------------------------------------------
# Judging


def answer_from(recording: Recording) -> dict[str, Any]:
    """Return the JSON that ``%why`` prints for a recording, in the last kernel."""
    with Ledger.in_memory() as ledger, hints_kept():
        for each in recording.runs:
            number = ledger.add(each, recording.states)
            assert number == each.id, "runs of a recording are numbered from 1"
        for number, traces in recording.traces.items():
            for trace in traces:
                ledger.add_trace(number, trace)
        for run, against, findings in recording.findings:
            ledger.add_findings(run, against, findings)
        for seed in reversed(recording.seeds):
            remember(seed)
        asked = recording.runs[recording.asked - 1]
        identity = Identity(asked.notebook, asked.kernel)
        session = Session(asked.notebook, ledger, lambda source: source, identity=identity)
        answer: dict[str, Any] = json.loads(WhyView(why(session, asked), asked.kernel).to_json())
        return answer


def problems_of(scenario: Scenario, recording: Recording) -> list[str]:
    """Return what is wrong with the answer from a recording."""
    return judge(scenario, answer_from(recording), recording.counts)


def stale(scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    """Yield the scenarios to play again: new, changed, or recorded by older code."""
    everything = recorded_generation() != generation()
    for scenario in scenarios:
        if everything or load(scenario) is None:
            yield scenario
