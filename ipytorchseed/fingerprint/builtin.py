"""Fingerprints of small immutable objects of the standard library."""

from __future__ import annotations

import io
import sys
import weakref
from collections.abc import Callable
from typing import Any

from xxhash import xxh3_128_digest

from ipytorchseed.fingerprint.containers import write_tokens
from ipytorchseed.fingerprint.objects import attribute_tokens, extra, join
from ipytorchseed.fingerprint.scalars import text
from ipytorchseed.fingerprint.walk import Draft, Walk, Writer, Writing, digest_of
from ipytorchseed.introspection.anatomy import anatomy, mro
from ipytorchseed.patterns import lazy_pattern


def state_writer(
    word: str, state: Callable[[Any], object], exact: str = "", *, show: bool = False
) -> Writer:
    """Return a writer of objects that a state describes completely.

    Args:
        word: The kind.
        state: Returns the content to write, a dictionary if it has names; it must run no user
            code.
        exact: The type with its module; objects of subclasses add their attributes.
        show: Whether the state may be shown to people.
    """

    def write(value: Any, walk: Walk) -> Writing:
        held = state(value)
        if type(held) is dict:
            token = join((yield from attribute_tokens(held.items(), walk)))
        else:
            (token,) = yield from write_tokens((held,), walk, counted=False)
        made = anatomy(type(value))
        subclass = exact and made.name != exact
        more = (yield from extra(value, walk, object)) if subclass else b""
        digest = xxh3_128_digest(word.encode() + text(made.name) + more + token)
        if not walk.top:
            return Draft(digest, word)
        return Draft(digest, word, f"{made.title} {held}"[:80] if show else made.title)

    return write


def class_of(value: object, name: str | tuple[str, ...]) -> Any:
    """Return the nearest class whose full name begins so, not a user's class."""
    return next(kind for kind in mro(type(value)) if anatomy(kind).name.startswith(name))


def moment(value: Any) -> object:
    """Return the state of a date, a time or a duration, and its zone."""
    import datetime as dt

    for base in (dt.datetime, dt.date, dt.time, dt.timedelta):
        if issubclass(type(value), base):
            return base.__reduce_ex__(value, 4)[1]
    return dt.timezone.__getinitargs__(value)  # type: ignore[attr-defined]


def path(value: Any) -> object:
    """Return a path's text; for a user's subclass, its pieces."""
    import pathlib

    if anatomy(type(value)).name.startswith("pathlib."):
        return pathlib.PurePath.__str__(value)
    # the first from Python 3.12 on, the others before
    wanted = ("_raw_paths", "_drv", "_root", "_parts")
    return {name: it for name, it in anatomy(type(value)).attributes(value) if name in wanted}


def decimal(value: Any) -> object:
    """Return a decimal number's text, which has its sign, exponent and NaN payload."""
    return class_of(value, "decimal.Decimal").__str__(value)


def memory_file(value: Any) -> object:
    """Return the content and position of an in-memory file."""
    base = io.BytesIO if issubclass(type(value), io.BytesIO) else io.StringIO
    if vars(base)["closed"].__get__(value):
        return "closed"
    return base.getvalue(value), base.tell(value)


def hashed(value: Any) -> object:
    """Return the digest of what a hash object has received so far."""
    kind = class_of(value, ("_hashlib.", "_blake2."))
    # which have digests of any length
    length = (32,) if anatomy(kind).name == "_hashlib.HASHXOF" else ()
    return kind.digest(value, *length)


def row(value: Any) -> object:
    """Return the columns and the items of a row that SQLite found."""
    kind = class_of(value, "sqlite3.Row")
    return kind.keys(value), [*kind.__iter__(value)]


def seeds(value: Any) -> object:
    """Return the arguments of a seed sequence, and how many children it has spawned."""
    base = class_of(value, "numpy.random.bit_generator.SeedSequence")
    names = "entropy", "spawn_key", "pool_size", "n_children_spawned"
    return [getattr(base, name).__get__(value) for name in names]


def current(value: Any) -> object:
    """Return the value of a context variable in the cell's context, if it has one."""
    return value.name, value.get(None)  # there are no subclasses


def captured(value: Any) -> object:
    """Return what ``%%capture`` captured: stdout and displays, without addresses.

    stderr has progress bars, which show times.
    """
    held = dict(anatomy(type(value)).attributes(value))
    file, shown = held.get("_stdout"), held.get("_outputs")
    printed = io.StringIO.getvalue(file) if type(file) is io.StringIO else ""
    shown = shown if type(shown) is list else []
    data = [each.get("data") for each in shown if type(each) is dict]
    plain = [each.get("text/plain", "") for each in data if type(each) is dict]
    return [_ADDRESS.sub("0x", each) for each in (printed, *plain) if type(each) is str]


_ADDRESS = lazy_pattern(r"0x[0-9a-fA-F]{4,}")


def zone(value: Any) -> object:
    """Return a time zone's name."""
    return class_of(value, "zoneinfo.ZoneInfo").key.__get__(value)


def pattern(value: Any) -> object:
    """Return a regular expression's text and flags."""
    return value.pattern, value.flags


def reduced(value: Any) -> object:
    """Return the parts of an object of a C class without subclasses."""
    return type(value).__reduce__(value)  # type: ignore[call-arg] # of whatever class


def bounds(value: Any) -> object:
    """Return the bounds of a range or a slice."""
    return value.start, value.stop, value.step


def proxied(value: Any) -> object:
    """Return the mapping behind a proxy, or the object behind a cell."""
    import gc

    return gc.get_referents(value)


def viewed(value: Any) -> object:
    """Return the keys behind a view of them, or the dictionary behind another view."""
    import gc

    return [[*each] if type(value) is _KEYS else each for each in gc.get_referents(value)]


_KEYS: type = type({}.keys())


def referred(value: Any) -> object:
    """Return the referent of a weak reference, kept alive only during the look."""
    return weakref.ref.__call__(value)


def write_enum(value: Any, walk: Walk) -> Writing:
    """Write a member of an enumeration: class, name and value."""
    made = anatomy(type(value))
    fields = made.dictionary(value) or {}
    items = [(name, fields.get(name)) for name in ("_name_", "_value_")]
    tokens = yield from attribute_tokens(items, walk)
    name = fields.get("_name_")
    shown = f"{made.title}.{name}" if type(name) is str else made.title
    return Draft(xxh3_128_digest(b"enum" + text(made.name) + join(tokens)), "enum", shown)


def write_exception(value: Any, walk: Walk) -> Writing:
    """Write an exception: class, arguments and attributes, without its traceback."""
    args = yield BaseException.args.__get__(value)  # type: ignore[attr-defined]
    more = yield from extra(value, walk, object, skip=_NOT_ARGUMENTS)
    made = anatomy(type(value))
    return Draft(xxh3_128_digest(b"exception" + args + more), "exception", made.title)


_NOT_ARGUMENTS = frozenset({"__notes__", "__suppress_context__"})


def write_generator_state(value: Any, walk: Walk) -> Writing:
    """Write a random generator by its state, as the table of generators reads it.

    Inside another value, its state is a separate aspect: a loader that has advanced is the same
    loader. The state of a source, which ``random.randint`` is bound to, belongs to the source.
    """
    from ipytorchseed.rng.generators import KINDS, is_source

    made = anatomy(type(value))
    for kind in KINDS:
        if kind.module in sys.modules and _is_of(value, kind.type):
            if not walk.top and is_source(value, kind):
                return Draft(xxh3_128_digest(b"source" + text(kind.type)), "rng", kind.type)
            state = kind.read(value)
            token = yield state
            if not walk.top:
                walk.random.append(token)
                return Draft(xxh3_128_digest(b"random" + text(kind.type)), "rng")
            digest = xxh3_128_digest(b"random" + text(kind.type) + token)
            return Draft(digest, "rng", kind.type, {"state": digest_of(token)} | _spawned(value))
    walk.mark_unseen(made.name)
    return Draft(xxh3_128_digest(b"random" + text(made.name)), "rng", made.title, opaque=True)


def _spawned(value: Any) -> dict[str, str]:
    """Return how many generators numpy's has spawned, which determines the next ones."""
    if anatomy(type(value)).name != "numpy.random._generator.Generator":
        return {}
    born = getattr(value.bit_generator, "seed_seq", None)
    if anatomy(type(born)).name != "numpy.random.bit_generator.SeedSequence":
        return {}
    return {"spawned": str(getattr(born, "n_children_spawned", 0))}


def _is_of(value: object, name: str) -> bool:
    module, _, title = name.rpartition(".")
    made = getattr(sys.modules[module], title, None)
    system = getattr(sys.modules.get("random"), "SystemRandom", None)
    if system is not None and issubclass(type(value), system):  # has no state
        return False
    return made is not None and issubclass(type(value), made)


def write_bit_generator(value: Any, walk: Walk) -> Writing:  # noqa: ARG001
    """Write numpy's bit generator by its state."""
    token = yield class_of(value, "numpy.").state.__get__(value)
    made = anatomy(type(value))
    return Draft(xxh3_128_digest(b"random" + text(made.name) + token), "rng", made.title)
