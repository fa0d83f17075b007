"""Inputs kept in memory: small and recently used ones, and none if that is off."""

from __future__ import annotations

from ipytorchseed.session.kept import ALL, LARGEST, KeptInputs


def make_kept(*, is_on=True):
    """Return empty kept inputs."""
    return KeptInputs(lambda: is_on)


def test_an_input_is_copied_once():
    """An input that cannot be copied is tried only once."""
    kept, asked = make_kept(), []
    for digest, content in (("a", b"1"), ("a", b"2"), ("b", None), ("b", b"3")):
        kept.add(digest, lambda digest=digest, content=content: asked.append(digest) or content)
    assert asked == ["a", "b"]
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (b"1", None, None)


def test_those_used_longest_ago_go_first():
    """An input that a run read again stays."""
    kept = make_kept()
    for number in range(ALL // LARGEST + 10):
        kept.add(str(number), lambda: bytes(LARGEST))
        kept.add("0", lambda: None)
    assert kept.get("0") is not None
    assert kept.get("1") is None
    assert kept.get(str(ALL // LARGEST + 9)) is not None


def test_what_cannot_be_kept_takes_room_too():
    """This limits the number of entries."""
    kept = make_kept()
    for number in range(ALL // 100):
        kept.add(str(number), lambda: None)
    assert len(kept._held) < ALL // 100


def test_nothing_is_kept_if_it_is_switched_off():
    """Earlier inputs are dropped."""
    choices = [True]
    kept = KeptInputs(lambda: choices[0])
    kept.add("a", lambda: b"1")
    choices[0] = False
    kept.add("b", lambda: b"2")
    assert (kept.get("a"), kept.get("b")) == (None, None)
