"""Runs and states to put into a ledger, plain ones and arbitrary ones."""

from __future__ import annotations

import os
import time

from hypothesis import strategies as st

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import FileRead, Outputs, Run
from ipytorchseed.rng.source import digest

BEGIN = time.time() - 3600
"""When the first sample run started: what is older than 400 days would be pruned."""


def state(size=2509):
    """Return the state of a source, as random as that of a Mersenne Twister."""
    return os.urandom(size)


def moved(number=0, **changes):
    """Return a run that moved one source, and its states by digest."""
    before, after = state(), state()
    run = Run(
        **{
            "notebook": "a.ipynb",
            "kernel": "k1",
            "cell": f"c{number % 5}",
            "source": f"x = draw({number % 5})",
            "execution_count": number + 1,
            "started": BEGIN + number,
            "seconds": 0.5,
            "status": "ok",
            "before": {"python": digest(before)},
            "after": {"python": digest(after)},
            "settings": {"torch.num_threads": 2},
            **changes,
        }
    )
    return run, {digest(each): each for each in (before, after)}


def add(ledger, count, **changes):
    """Add sample runs; return them with their numbers."""
    return [ledger.add(*moved(number, **changes)) for number in range(count)]


def same(one, other):
    """Return whether two runs are equal in all but their number; nan equals nan."""
    return all(
        repr(getattr(one, each)) == repr(getattr(other, each))
        or getattr(one, each) == getattr(other, each)
        for each in one.__struct_fields__
        if each != "id"
    )


# --------------------------------------------------------------------------------------------------
# Arbitrary ones


def _records(made, /, **fields):
    """As ``st.builds``, which would evaluate the annotations of ``made``."""
    return st.fixed_dictionaries(fields).map(lambda given: made(**given))


texts = st.text(st.characters(exclude_categories=()), max_size=20)  # surrogates and NUL too
names = st.text(min_size=1, max_size=12)
digests = st.integers(0, 2**64 - 1).map(lambda number: f"{number:016x}")
floats = st.floats(width=64)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
series = (
    st.none()
    | st.lists(floats, max_size=40).map(tuple)
    | st.lists(st.floats(width=32), min_size=17, max_size=60).map(tuple)
)
values = _records(
    Fingerprint,
    digest=digests,
    kind=names,
    summary=texts | st.text(min_size=250, max_size=300),
    exact=st.booleans(),
    opaque=st.booleans(),
    parts=st.dictionaries(names, texts, max_size=4)
    | st.dictionaries(names, st.text(min_size=150, max_size=160), max_size=3),
    series=series,
)
states = st.dictionaries(names, digests, max_size=4)
outputs = _records(
    Outputs,
    result=st.none() | values,
    stdout=st.none() | values,
    displays=st.lists(values, max_size=2).map(tuple),
    error=st.none() | texts,
)
runs = _records(
    Run,
    notebook=texts,
    kernel=texts,
    cell=texts,
    source=texts | st.text(min_size=300, max_size=400),
    execution_count=st.none() | st.integers(0, 2**40),
    started=st.floats(0, 1 << 36),
    seconds=st.floats(0, 1e9),
    status=st.sampled_from(["ok", "error", "interrupted"]),
    before=states,
    after=states,
    generators=st.dictionaries(names, names, max_size=3),
    settings=st.dictionaries(texts, jsons, max_size=4),
    reads=st.dictionaries(names, values, max_size=3),
    writes=st.dictionaries(names, values, max_size=3),
    outputs=outputs,
    files=st.lists(
        _records(
            FileRead, path=texts, size=st.integers(-1, 2**50), digest=digests, exact=st.booleans()
        ),
        max_size=2,
    ).map(tuple),
    between=st.dictionaries(names, st.tuples(digests, digests), max_size=2),
    seeds=st.lists(st.tuples(st.integers(0, 2**32 - 1), names), max_size=2).map(tuple),
    nondeterministic_calls=st.dictionaries(names, st.booleans(), max_size=2),
    packages=st.lists(names, max_size=2).map(tuple),
    code=st.just("") | digests,
    notes=st.lists(texts, max_size=2).map(tuple),
)


def states_of_run(ledger, run, *, after=False):
    """Return the stored states of each source at the start or the end of a run."""
    digests = run.after if after else run.before
    found = ledger.states(digests.values())
    return {name: found[each] for name, each in digests.items() if each in found}
