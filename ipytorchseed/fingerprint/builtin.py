"""Fingerprints of small immutable objects of the standard library."""

from __future__ import annotations

import gc
import io
from typing import Any

from ipytorchseed.fingerprint.scalars import join, text
from ipytorchseed.fingerprint.walk import Draft, Walk, Writing
from ipytorchseed.introspection.anatomy import anatomy, dictionary_of, mro
from ipytorchseed.introspection.values import imported
from ipytorchseed.patterns import lazy_pattern


def class_of(value: object, name: str) -> Any:
    """Return the first class in the MRO whose full name starts with ``name``.

    Writers call methods of this class, so that a user's overrides do not run.
    """
    return next(kind for kind in mro(type(value)) if anatomy(kind).name.startswith(name))


def moment(value: Any) -> object:
    """Return the state of a datetime, date, time, timedelta or timezone."""
    return class_of(value, "datetime.").__reduce_ex__(value, 4)[1]


def path(value: Any) -> object:
    """Return the text of a path; for a user's subclass, its private parts.

    ``str`` of a user's subclass could run user code.
    """
    import pathlib

    if anatomy(type(value)).name.startswith("pathlib."):
        return pathlib.PurePath.__str__(value)
    # `_raw_paths` from Python 3.12 on, the others before
    wanted = ("_raw_paths", "_drv", "_root", "_parts")
    return {name: it for name, it in anatomy(type(value)).attributes(value) if name in wanted}


def memory_file(value: Any) -> object:
    """Return the content and position of an in-memory file."""
    base = class_of(value, "_io.")
    if vars(base)["closed"].__get__(value):
        return "closed"
    return base.getvalue(value), base.tell(value)


def row(value: Any) -> object:
    """Return the column names and values of a ``sqlite3.Row``."""
    kind = class_of(value, "sqlite3.Row")
    return kind.keys(value), [*kind.__iter__(value)]


def seeds(value: Any) -> object:
    """Return the arguments of a ``SeedSequence``, and the number of children spawned."""
    base = class_of(value, "numpy.random.bit_generator.SeedSequence")
    names = "entropy", "spawn_key", "pool_size", "n_children_spawned"
    return [getattr(base, name).__get__(value) for name in names]


def captured(value: Any) -> object:
    """Return the stdout and displays that ``%%capture`` captured, without addresses.

    stderr is left out, because progress bars write times to it.
    """
    held = dict(anatomy(type(value)).attributes(value))
    file, shown = held.get("_stdout"), held.get("_outputs")
    printed = io.StringIO.getvalue(file) if type(file) is io.StringIO else ""
    shown = shown if type(shown) is list else []
    data = [each.get("data") for each in shown if type(each) is dict]
    plain = [each.get("text/plain", "") for each in data if type(each) is dict]
    return [_ADDRESS.sub("0x", each) for each in (printed, *plain) if type(each) is str]


_ADDRESS = lazy_pattern(r"0x[0-9a-fA-F]{4,}")


def reduced(value: Any) -> object:
    """Return the result of ``__reduce__``, for C classes that cannot be subclassed."""
    return type(value).__reduce__(value)  # type: ignore[call-arg] # of any class


def viewed(value: Any) -> object:
    """Return the keys of a keys view, or the dictionary of a values or items view."""
    held = gc.get_referents(value)
    return [[*each] for each in held] if type(value) is type({}.keys()) else held


def write_enum(value: Any, walk: Walk) -> Writing:
    """Encode an enum member: its class, name and value."""
    made = anatomy(type(value))
    fields = dictionary_of(value)
    items = [(name, fields.get(name)) for name in ("_name_", "_value_")]
    tokens = yield from walk.named(items)
    name = fields.get("_name_")
    shown = f"{made.title}.{name}" if type(name) is str else made.title
    return Draft(b"enum" + text(made.name) + join(tokens), "enum", shown)


def raised(value: Any) -> object:
    """Return the arguments and attributes of an exception, without its traceback."""
    fields = dict(anatomy(type(value)).attributes(value))
    kept = {name: each for name, each in fields.items() if name not in _NOT_ARGUMENTS}
    return BaseException.args.__get__(value), kept  # type: ignore[attr-defined]


_NOT_ARGUMENTS = frozenset({"__notes__", "__suppress_context__"})


def write_generator_state(value: Any, walk: Walk) -> Writing:
    """Encode a random generator by its state, read as in ``rng.generators``.

    Inside another value, the state goes to ``walk.random``, not to the digest: a data loader does
    not change because its generator has advanced. There, a generator that is a source, such as
    the ``Random`` that ``random.randint`` is bound to, is written without its state.
    """
    from ipytorchseed.rng.generators import KINDS, is_source

    made = anatomy(type(value))
    for kind in KINDS:
        if _is_of(value, kind.type):
            if not walk.top and is_source(value, kind):
                return Draft(b"source" + text(kind.type), "rng", kind.type)
            token = yield kind.read(value)
            if not walk.top:
                walk.random.append(token)
                return Draft(b"random" + text(kind.type), "rng")
            content = b"random" + text(kind.type) + token
            return Draft(content, "rng", kind.type, _spawned(value))
    walk.mark_unseen(made.name)
    return Draft(b"random" + text(made.name), "rng", made.title, opaque=True)


def _spawned(value: Any) -> dict[str, str]:
    """Return how often a numpy ``Generator`` has spawned, which affects later spawns."""
    if anatomy(type(value)).name != "numpy.random._generator.Generator":
        return {}
    born = getattr(value.bit_generator, "seed_seq", None)
    if anatomy(type(born)).name != "numpy.random.bit_generator.SeedSequence":
        return {}
    return {"spawned": str(getattr(born, "n_children_spawned", 0))}


def _is_of(value: object, name: str) -> bool:
    module, _, title = name.rpartition(".")
    made = imported(module, title)
    return made is not None and issubclass(type(value), made)


def bits(value: Any) -> object:
    """Return the state of a numpy ``BitGenerator``."""
    return class_of(value, "numpy.").state.__get__(value)
