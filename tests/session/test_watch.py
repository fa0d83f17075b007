"""Names that were rebound, found without searching a long namespace."""

from __future__ import annotations

import gc
import weakref

from hypothesis import given
from hypothesis import strategies as st

from ipytorchseed.introspection.values import shell_name
from ipytorchseed.session.sources import NamespaceWatch

NAMES = ("a", "b", "c", "_private", "__dunder", "In", "Out", "_", "_i", "_i7", "_12", 5)
OBJECTS = [object() for _ in range(3)]

DONE = st.lists(
    st.tuples(
        st.sampled_from(("bind", "bind", "delete", "look")),
        st.sampled_from(NAMES),
        st.sampled_from(OBJECTS),
    ),
    max_size=30,
)


def watched(name):
    """Return whether a name is one of the user's."""
    return isinstance(name, str) and not shell_name(name)


@given(done=DONE)
def test_what_was_bound_is_told(done):
    """Names are bound, deleted and bound again in any order; some are the shell's."""
    watch, namespace = NamespaceWatch(), {}
    before = {}
    for what, name, value in [*done, ("look", "", None)]:
        if what == "bind":
            namespace[name] = value
        elif what == "delete":
            namespace.pop(name, None)
        else:
            told = watch.rebound(namespace)
            anew = {
                each
                for each, bound in namespace.items()
                if watched(each) and before.get(each, watch) is not bound
            }
            assert {*told} == anew
            assert len(told) == len(anew)
            before = dict(namespace)


def test_a_name_taken_away_and_bound_again_between_others_is_told():
    """The number of names and the newest one may be the same as before."""
    watch, one = NamespaceWatch(), object()
    namespace = {"a": one, "z": one}
    watch.rebound(namespace)
    del namespace["a"], namespace["z"]
    namespace["b"], namespace["z"] = one, one
    assert watch.rebound(namespace) == ["b"]


def test_nothing_is_kept_alive():
    """The watch stores only the ids of objects."""

    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    watch = NamespaceWatch()
    watch.rebound({"thing": thing})
    del thing
    gc.collect()
    assert gone() is None


def test_only_names_that_were_rebound_are_examined(monkeypatch):
    """IPython stores each cell's text under a name, which is no variable."""
    namespace = {f"_i{number}": "" for number in range(10_000)} | {"x": 1}
    watch = NamespaceWatch()
    watch.rebound(namespace)
    namespace["_i10000"], namespace["y"], namespace["x"] = "", 2, 2
    asked = []
    monkeypatch.setattr("ipytorchseed.session.sources.shell_name", asked.append)
    assert watch.rebound(namespace) == ["x", "_i10000", "y"]
    assert asked == ["x", "_i10000", "y"]
