"""Finding what a cell reads runs no user code and keeps no object alive."""

from __future__ import annotations

import functools
import gc
import sys
import types
import weakref

import pytest
import torch

from ipytorchseed.reads.cell import effects_of_cell

# The methods of the classes below that were called.
called: list[str] = []

HOOKS = [
    *("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__dir__", "__call__"),
    *("__len__", "__iter__", "__next__", "__contains__", "__getitem__", "__missing__", "__bool__"),
    *("__eq__", "__ne__", "__lt__", "__hash__", "__repr__", "__str__", "__format__", "__index__"),
    *("__int__", "__float__", "__reduce__", "__reduce_ex__", "__getstate__", "__sizeof__"),
    *("__instancecheck__", "__subclasscheck__", "__get__", "__set__", "__del__", "__enter__"),
    *("keys", "values", "items", "get", "startswith", "partition"),
]


def _hook(name):
    def hook(*args, **kwargs):
        called.append(name)
        raise AssertionError(name)

    return hook


HOOKED = {name: _hook(name) for name in HOOKS if name != "__del__"}


class Meta(type):
    """A metaclass whose methods are the user's code."""

    __getattribute__ = HOOKED["__getattribute__"]
    __instancecheck__ = HOOKED["__instancecheck__"]
    __subclasscheck__ = HOOKED["__subclasscheck__"]
    __eq__ = HOOKED["__eq__"]
    __hash__ = HOOKED["__hash__"]
    __bool__ = HOOKED["__bool__"]
    __len__ = HOOKED["__len__"]
    __call__ = HOOKED["__call__"]
    __repr__ = HOOKED["__repr__"]


def _make(*bases, **more):
    return type("Hooked", bases, {**HOOKED, "__module__": "__main__", **more})


class Properties:
    """A class whose descriptive attributes run the user's code."""

    __module__ = "__main__"
    __class__ = property(_hook("__class__"))
    __dict__ = property(_hook("__dict__"))
    __name__ = property(_hook("__name__"))
    __self__ = property(_hook("__self__"))
    __func__ = property(_hook("__func__"))
    __wrapped__ = property(_hook("__wrapped__"))
    __code__ = property(_hook("__code__"))
    __closure__ = property(_hook("__closure__"))
    __globals__ = property(_hook("__globals__"))


def _instance(kind, *args):
    for base in (dict, list, tuple, set, frozenset, str, int, types.ModuleType, functools.partial):
        if base in type.__dict__["__mro__"].__get__(kind):
            return base.__new__(kind, *args)
    return object.__new__(kind)


OBJECTS = {
    "object": lambda: _instance(_make()),
    "module in name": lambda: _instance(_make(__module__=property(_hook("__module__")))),
    "properties": lambda: object.__new__(Properties),
    "class": lambda: type.__call__(Meta, "A", (), {"__module__": "__main__", "m": lambda _: k}),
    "object of such a class": lambda: object.__new__(type.__call__(Meta, "A", (), dict(HOOKED))),
    "dict": lambda: _instance(_make(dict)),
    "list": lambda: _instance(_make(list)),
    "tuple": lambda: _instance(_make(tuple), (1, 2)),
    "set": lambda: _instance(_make(set)),
    "frozenset": lambda: _instance(_make(frozenset)),
    "text": lambda: _instance(_make(str), "a"),
    "number": lambda: _instance(_make(int), 3),
    "module": lambda: _instance(_make(types.ModuleType)),
    "partial": lambda: _instance(_make(functools.partial), print),
    "nn.Module": lambda: object.__new__(_make(torch.nn.Module)),
    "slots": lambda: object.__new__(_make(__slots__=("a", "b"))),
    "descriptor in class": lambda: object.__new__(
        type("A", (), {"__module__": "__main__", "d": _instance(_make())})
    ),
    "named like Cython's": lambda: object.__new__(
        type("cython_function_or_method", (), {**HOOKED, "__module__": "_cython_3"})
    ),
    "function": lambda: _function(),  # noqa: PLW0108 -- defined further down
    "a name that is no text": lambda: _function(__module__=_instance(_make(str), "json")),
    "bound": lambda: types.MethodType(_instance(_make()), _instance(_make())),
    "in a list": lambda: [_instance(_make())],
    "in a set's place": lambda: {"a": (_instance(_make()), 1)},
}
k = 1


def _function(**attributes):
    def f(a=_instance(_make()), *, b=_instance(_make())):  # noqa: B008 -- to be found
        return k

    f.held = _instance(_make())
    for name, value in attributes.items():
        setattr(f, name, value)
    return f


CELLS = [
    "x", "x()", "x.a.b()", "x.now()", "x.seed()", "x[0]", "y = x", "x.a = 1", "x += 1", "f(x)",
    "for i in x: pass", "list(x)", "set(x)", "print(*x)", "f'{x}'", "isinstance(x, x)", "x.pop()",
    "with x as y: pass", "def f(): return x\nf()", "x in x", "sorted(x)", "x - x", "hash(x)", "del x",
    "a, b = x", "x.x.x.x.SystemRandom()",
]  # fmt: skip


@pytest.mark.parametrize("kind", OBJECTS)
def test_nothing_is_called(notebook, kind):
    """No method of an object is called, whatever it overrides."""
    notebook.run("import os\ndef held(): return x", x=OBJECTS[kind]())
    called.clear()
    for cell in [*CELLS, "held()"]:
        notebook.dependencies(cell)
    assert called == []
    notebook.names.clear()


def test_odd_namespace(notebook):
    """Names may be no strings, or instances of the user's subclass of ``str``."""
    notebook.run("x = 1")
    notebook.names[3] = 4
    notebook.names[None] = 5
    assert notebook.inputs("x") == {"x"}


class Key(str):
    """A key that runs the user's code when it is compared."""

    __slots__ = ()
    awake = False

    def __hash__(self):
        return HOOKED["__hash__"](self) if Key.awake else 1

    def __eq__(self, other):
        return HOOKED["__eq__"](self, other)


def test_odd_keys_are_not_compared(notebook, local_module, monkeypatch):
    """Keys of namespaces, modules and classes are only compared if they are strings."""
    local_module("beside", "x = 1")
    kind = type("A", (), {"__module__": "__main__", Key("x"): 1, "m": lambda _: k})
    notebook.run("import beside\ndef f(): return beside, x", x=kind(), A=kind)
    for names in (notebook.names, notebook.names["beside"].__dict__, notebook.names["f"].__dict__):
        names[Key("x")] = kind()
    monkeypatch.setattr(Key, "awake", True)
    called.clear()
    assert notebook.inputs("f(beside, A)") >= {"f", "beside.x", "x", "A"}
    for cell in CELLS:
        notebook.dependencies(cell)
    assert called == []


def test_module_that_makes_attributes(notebook):
    """A local module's ``__getattr__`` is not called."""
    module = types.ModuleType("made_up")
    module.__file__ = "/a/b/made_up.py"
    module.__getattr__ = _hook("__getattr__")
    notebook.run(made_up=module)
    called.clear()
    notebook.dependencies("made_up.x.y(), made_up")
    del module.__dict__["__name__"]
    notebook.dependencies("made_up.x.y(), made_up")
    assert called == []


def test_nothing_is_kept(notebook):
    """No object, class or function of the user's is kept alive."""
    notebook.run(
        """
        class A:
            def m(self): return k
        a = A()
        def f(x=a): return a
        k = {1, 2}
        """
    )
    gone = [weakref.ref(notebook.names[name]) for name in ("A", "a", "f", "k")]
    notebook.dependencies("f(a), A, k")
    notebook.names.clear()
    gc.collect()
    assert [each() for each in gone] == [None] * 4


def test_no_references_left(notebook):
    """The reference count of a value is the same afterwards."""
    value = [1, {"a": object()}]
    notebook.run("def f(): return x", x=value)
    notebook.dependencies("f(x)")
    before = sys.getrefcount(value), sys.getrefcount(value[1])
    notebook.dependencies("f(x)")
    assert (sys.getrefcount(value), sys.getrefcount(value[1])) == before


def test_generators_stand_still(notebook):
    """Generators, maps and iterators are inspected, not advanced."""
    notebook.run("def gen():\n    yield 1\ng = gen(); m = map(str, [1]); i = iter([1])")
    notebook.dependencies("g, m, i, next(g), list(m)")
    assert [next(notebook.names[name]) for name in "gmi"] == [1, "1", 1]


def test_tensors_are_not_touched(notebook):
    """Tensors keep their versions, and no operation is dispatched."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise AssertionError(func)

    notebook.run(t=torch.zeros(3), p=torch.nn.Parameter(torch.zeros(2)))
    with Seen():
        notebook.dependencies("for x in set(t): use(x, p)\nt += 1")
    assert notebook.names["t"]._version == 0


def test_flow_is_unchanged(notebook):
    """Finding dependencies does not change the cached effects of a cell."""
    notebook.run("import time\nx = 1\ndef f(): return time.time() + x")
    effects = effects_of_cell("y = f()", str)
    before = repr(effects)
    notebook.dependencies("y = f()")
    assert repr(effects) == before
