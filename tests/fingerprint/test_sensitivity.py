"""One change changes the digest.

An equal rebuilt value has the same, in any process.
"""

from __future__ import annotations

import copy
import math
import os
import pickle
import struct
import subprocess
import sys
import warnings

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from ipytorchseed.fingerprint import Memo, fingerprint
from tests.fingerprint.values import CHANGED, cyclic, different

pytestmark = pytest.mark.filterwarnings("ignore:Sparse C", "ignore:.*quantize")


@pytest.mark.parametrize("name", CHANGED)
def test_a_change_is_seen(name):
    """Of one bit, one field, one step: seen also by a memo that knows the value."""
    make, change = CHANGED[name]
    value, memo = make(), Memo()
    before = fingerprint(value, memo=memo)
    change(value)
    after = fingerprint(value, memo=memo)
    assert before.digest != after.digest
    assert before.exact
    assert after.exact
    assert "not looked" not in before.summary + after.summary


@pytest.mark.parametrize("name", CHANGED)
def test_an_equal_value_has_the_same_fingerprint(name):
    """Built again, and looked at again."""
    make, _ = CHANGED[name]
    value = make()
    first = repr(fingerprint(value))  # a NaN in the series is not equal to itself
    assert repr(fingerprint(value)) == first
    assert repr(fingerprint(make())) == first


def test_different_values_differ():
    """No two of a long list of simple values share a digest, also inside a list."""
    seen = {}
    for value in different():
        found = fingerprint(value)
        assert found.exact, value
        assert "not looked" not in found.summary
        other = seen.setdefault(found.digest, value)
        assert other is value, f"{value!r} and {other!r}"
    inside = {fingerprint([value, "x"]).digest for value in different()}
    assert len(inside) == len(seen)


_PROGRAM = """
import warnings
warnings.simplefilter("ignore")
from ipytorchseed.fingerprint import fingerprint
from tests.fingerprint.values import CHANGED, different
for make, _ in CHANGED.values():
    print(fingerprint(make()).digest)
for value in different():
    print(fingerprint(value).digest)
"""


def test_another_process_agrees():
    """With another hash seed.

    No identity, no address, no order of a set is in a digest.
    """
    printed = [
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    names = [*CHANGED, *map(repr, different())]
    assert len(printed[0]) == len(names)
    differ = [n for n, a, b in zip(names, *printed, strict=True) if a != b]
    assert differ == []


_IMPORTS = """
import sys
import torch
from ipytorchseed.fingerprint import fingerprint
large = [torch.rand(224, 224, 3).permute(2, 0, 1), torch.nn.Linear(9, 9), torch.rand(999_999)[::2]]
before = {*sys.modules}
print(*[fingerprint(each).exact for each in large])
print(*[name for name in {*sys.modules} - before if not name.startswith("ipytorchseed.")])
"""


def test_looking_imports_no_library():
    """Some functions of torch's import sympy when they are first called."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTS], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["True True True", ""]


_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
    | st.complex_numbers()
)  # fmt: skip
_values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner)
        | st.sets(st.integers() | st.text())
    ),
    max_leaves=20,
)  # fmt: skip


def _same(one, other):
    """Return whether two values are equal to the bit, types and order included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other)
    if isinstance(one, complex):
        return _same(one.real, other.real) and _same(one.imag, other.imag)
    if isinstance(one, dict):
        one, other = [*one.items()], [*other.items()]
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


@hypothesis.given(_values, _values)
def test_digests_are_equal_exactly_where_values_are(one, other):
    """For nested builtin values."""
    assert fingerprint(pickle.loads(pickle.dumps(one))).digest == fingerprint(one).digest  # noqa: S301
    assert (fingerprint(one).digest == fingerprint(other).digest) is _same(one, other)


@hypothesis.given(
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
    st.sampled_from(["f4", "f8", "i2", "u1", "c8", "?", "M8[s]"]),
    st.data(),
)
def test_one_bit_of_an_array_changes_the_digest(shape, dtype, data):
    """At any place, as array and as tensor; an equal one laid out in columns is equal."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = bytearray(data.draw(st.binary(min_size=size, max_size=size)))
    if dtype == "?":
        raw = bytearray(byte & 1 for byte in raw)
    array = np.frombuffer(raw, dtype).reshape(shape)
    before = fingerprint(array).digest
    assert fingerprint(np.asfortranarray(array)).digest == before
    tensor = None if dtype[0] == "M" else torch.from_numpy(array)
    tensor_before = None if tensor is None else fingerprint(tensor).digest
    if size:
        place = data.draw(st.integers(0, size - 1))
        raw[place] ^= 1 if dtype == "?" else 1 << data.draw(st.integers(0, 7))
        assert fingerprint(array).digest != before
        if tensor is not None:
            assert fingerprint(tensor).digest != tensor_before


def test_a_nan_is_known_by_its_bits():
    """Two NaN that differ in their payload differ; the same one is equal to itself."""
    quiet, other = (struct.unpack("d", struct.pack("Q", 0x7FF8 << 48 | n))[0] for n in (0, 1))
    assert fingerprint(quiet).digest == fingerprint(float("nan")).digest
    assert fingerprint(quiet).digest != fingerprint(other).digest


def test_cycles_are_told_apart_by_where_they_lead():
    """To the list itself, or to one within it."""
    inner: list = []
    inner.append(inner)
    outer: list = []
    outer.append([outer])
    assert fingerprint(inner).digest != fingerprint(outer).digest
    assert fingerprint(copy.deepcopy(cyclic())).digest == fingerprint(cyclic()).digest


def test_looking_warns_of_nothing():
    """Whatever is looked at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = [*different(), *[make() for make, _ in CHANGED.values()]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for value in [*values, torch.ones(2, requires_grad=True) * 2]:
            fingerprint(value, memo=Memo())
    assert [str(each.message) for each in caught] == []
