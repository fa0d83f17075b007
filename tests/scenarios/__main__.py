"""Plays scenarios from the command line.

    python -m tests.scenarios [--record | --dry | --prove] [--offline] [--only WORD] [FILE...]

``--record`` plays scenarios whose recordings are missing or stale, and writes the recordings. With
``--all``, it plays all scenarios. ``--offline`` judges recordings without kernels. ``--dry`` plays
without tracking, and only checks that results change as the file says.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import quantiles

from tests.scenarios import recording
from tests.scenarios.playing import AT_ONCE, Outcome, missing_packages, play
from tests.scenarios.scenario import Scenario, noise, read, read_all


def main() -> int:
    """Play scenarios, several at once, and print which answers are right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="all if none is named")
    parser.add_argument("--record", action="store_true", help="write recordings that are stale")
    parser.add_argument("--all", action="store_true", help="with --record: write all of them")
    parser.add_argument("--offline", action="store_true", help="judge recordings, without kernels")
    parser.add_argument("--dry", action="store_true", help="check the scenarios, not %%why")
    parser.add_argument("--prove", action="store_true", help="have the causes proved")
    parser.add_argument("--say", action="store_true", help="print what %%why said")
    parser.add_argument("--only", default="", help="those whose names contain this")
    options = parser.parse_args()
    scenarios = [read(path) for path in options.files] or read_all()
    scenarios = [each for each in scenarios if options.only in each.name]
    if options.record and not options.all:
        scenarios = [*recording.stale(scenarios)]
    scenarios = [each for each in scenarios if not missing_packages(each)]
    if options.offline:
        player = _judge_recording
    else:
        player = partial(play, dry=options.dry, prove=options.prove, keep=options.record)
    right, noisy, proofs = 0, 0, Counter[str]()
    kept: dict[str, recording.Recording] = {}
    times: list[float] = []
    with ThreadPoolExecutor(1 if options.offline else AT_ONCE) as pool:
        for scenario, outcome in zip(scenarios, pool.map(player, scenarios), strict=True):
            right += not outcome.problems
            proofs.update(_proofs(scenario, outcome))
            noisy += outcome.answer is not None and bool(noise(scenario, outcome.answer))
            times += [] if outcome.seconds is None else [outcome.seconds]
            lines = [f"{'MISS' if outcome.problems else 'ok  '} {scenario.name}", *outcome.problems]
            if options.say and outcome.answer is not None:
                lines.append(json.dumps(outcome.answer, indent=1, ensure_ascii=False))
            if outcome.recording is not None:
                kept[scenario.name] = outcome.recording
            sys.stdout.write("\n     ".join(lines) + "\n")
            sys.stdout.flush()
    if options.record:
        recording.save(kept)
        if not (options.files or options.only):
            recording.GENERATION.write_text(f"{recording.generation()}\n", encoding="utf-8")
    told = ", ".join(f"{count} {level}" for level, count in sorted(proofs.items()))
    sys.stdout.write(f"{right} of {len(scenarios)} right; true causes: {told}")
    sys.stdout.write(f"; innocents that may matter in {noisy} answers\n")
    if len(times) > 1:
        tenths = quantiles(times, n=10)
        told = f"median {tenths[4]:.2f} s, 90% within {tenths[8]:.2f} s, longest {max(times):.2f} s"
        sys.stdout.write(f"%why took: {told}, with {AT_ONCE} kernels at once\n")
    return 0 if right == len(scenarios) else 1


def _proofs(scenario: Scenario, outcome: Outcome) -> list[str]:
    """Return the results of experiments about the causes that must be named."""
    answer = outcome.answer or {"causes": [], "cleared": []}
    told = [(cause, cause["proof"]) for cause in answer["causes"]]
    told += [(each, "no effect") for each in answer["cleared"] if "no effect" in each["message"]]
    return [level for wanted in scenario.wanted for each, level in told if wanted.among([each])]


def _judge_recording(scenario: Scenario) -> Outcome:
    kept = recording.load(scenario)
    if kept is None:
        return Outcome(scenario.changed, None, ("not recorded: make record",))
    answer = recording.answer_from(kept)
    return Outcome(scenario.changed, answer, tuple(recording.problems_of(scenario, kept)))


if __name__ == "__main__":
    sys.exit(main())
