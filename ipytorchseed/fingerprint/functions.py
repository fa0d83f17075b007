"""Fingerprints of functions, methods, partials, classes and modules.

A function's fingerprint covers its code, defaults, closure and attributes.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterable
from contextlib import suppress
from operator import itemgetter
from typing import Any

from xxhash import xxh3_128_digest

from ipytorchseed.fingerprint.objects import state_writer
from ipytorchseed.fingerprint.scalars import count, join, text
from ipytorchseed.fingerprint.walk import Draft, Tokens, Walk, Writing, digest_of
from ipytorchseed.introspection.anatomy import (
    NOT_CONTENT,
    anatomy,
    full_name,
    module_of_class,
    mro,
    name_of_class,
    own,
    per_object,
)
from ipytorchseed.introspection.ownership import library_version
from ipytorchseed.introspection.values import imported, module_names, module_of, qualified_name
from ipytorchseed.introspection.values import text as plain_text

# --------------------------------------------------------------------------------------------------
# Code

_CONSTANT = frozenset(dis.hasconst)
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_HAS_DOCSTRING = 0x4000000  # CO_HAS_DOCSTRING, from Python 3.13 on


def _read_code(code: types.CodeType) -> bytes:
    """Digest a code object; 16 bytes.

    A constant is encoded where it is loaded, instead of its index in ``co_consts``. So a docstring
    has no effect: it changes the indices, but is never loaded. Names of local variables have no
    effect either, unless they are parameters.
    """
    raw = code.co_code
    written = bytearray(raw)
    constants = []
    argument = 0
    for at in range(0, len(raw), 2):
        argument = argument << 8 | raw[at + 1]
        if raw[at] in _CONSTANT:
            constants.append(_constant(code.co_consts[argument]))
            written[at + 1] = 0
        if raw[at] != _EXTENDED:
            argument = 0
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    parameters = sum(counts) - code.co_posonlyargcount + (code.co_flags & 12).bit_count()
    names = (code.co_names, code.co_varnames[:parameters], code.co_freevars, code.co_cellvars)
    head = repr((counts, code.co_flags & ~_HAS_DOCSTRING, len(raw))).encode()
    handlers = code.co_exceptiontable
    told = [b"".join([b"(", *map(text, each), b")"]) for each in names]
    return xxh3_128_digest(b"".join([head, written, handlers, *told, *constants]))


# Returns a digest of a code object that ignores its name, file, line numbers and docstring.
code_digest = per_object(_read_code)


def _constant(value: Any) -> bytes:
    """Encode a constant. Recursion is safe, because the parser limits nesting."""
    kind = type(value)
    if kind is types.CodeType:
        return b"C" + code_digest(value)
    if kind is tuple:
        return b"(%b)" % b"".join(map(_constant, value))
    if kind is frozenset:
        return b"{%b}" % b"".join(sorted(map(_constant, value)))
    return text(repr(value))


# --------------------------------------------------------------------------------------------------
# Functions

# Types of default arguments that calls may mutate.
_SIZED = (list, dict, set)

_DYNAMO = "_torchdynamo_orig_callable"  # an attribute of torch.compile's wrapper
# an attribute that torch adds to some functions, such as manual_seed, on the first call
_CALLED = "__dynamo_disable"


def cells(function: Any) -> list[tuple[str, object]]:
    """Return the names and values of the variables in a function's closure."""
    found = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # empty
            found.append((name, cell.cell_contents))
    return found


def write_function(value: Any, walk: Walk) -> Writing:
    """Encode a function written in Python."""
    name = value.__code__.co_name
    if content := _of_library(value):
        return Draft(content, "function", f"function {name}")
    attributes = value.__dict__
    original = dict.get(attributes, _DYNAMO)
    if original is not None:
        token = yield original
        parts = {"code": digest_of(token)}
        return Draft(b"compiled" + token, "function", f"compiled {name}", parts)
    code = code_digest(value.__code__)
    defaults = yield from walk.named(_defaults(value))
    closure = yield from walk.named(cells(value))
    own = [each for each in _by_name(dict.items(attributes)) if each[0] != _CALLED]
    others = yield from walk.named(own)
    closed = join(closure)
    content = b"function" + code + join(defaults) + b";" + closed + b";" + join(others)
    if not walk.top:
        return Draft(content, "function")
    parts = {"code": code[:8].hex(), **_parts_of_defaults(value, defaults)}
    parts |= {f"a:{name}": digest_of(token) for name, token in others}
    if closure:
        parts["closure"] = xxh3_128_digest(closed)[:8].hex()
    return Draft(content, "function", f"function {name}", parts)


def _of_library(value: Any) -> bytes:
    """Return the content of a library's function: its name and version; else b"".

    It must be importable, except our own: what a wrapper of ours refers to is no content.
    """
    module, name = module_of(value), qualified_name(value)
    known = imported(module, name) is value or module.startswith("ipytorchseed.")
    if not known or (version := library_version(module)) is None:
        return b""
    return b"library function" + text(module) + text(name) + text(version)


def _defaults(function: Any) -> list[tuple[str, object]]:
    """Return the names and defaults of the parameters that have one."""
    code, by_place = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount][-len(by_place) :] if by_place else ()
    by_name = _by_name(dict.items(function.__kwdefaults__ or {}))
    return [*zip(names, by_place, strict=False), *by_name]


def _parts_of_defaults(function: Any, tokens: Tokens) -> dict[str, str]:
    sizes = {n: str(len(each)) for n, each in _defaults(function) if isinstance(each, _SIZED)}
    parts = {f"d:{name}": digest_of(token) for name, token in tokens}
    return parts | {f"n:{name}": size for name, size in sizes.items()}


def _by_name(items: Iterable[tuple[Any, Any]]) -> list[tuple[str, Any]]:
    return sorted([item for item in items if type(item[0]) is str], key=itemgetter(0))


def write_builtin(value: Any, walk: Walk) -> Writing:  # noqa: ARG001
    """Encode a C function: its module, class, name and bound object."""
    name = getattr(value, "__qualname__", None) or value.__name__
    bound = getattr(value, "__self__", None)
    owner: Any = getattr(value, "__objclass__", None)
    where = full_name(owner) if issubclass(type(owner), type) else ""
    where += plain_text(getattr(value, "__module__", None))
    token = b"" if type(bound) is types.ModuleType else (yield bound)
    content = b"builtin" + text(where) + text(name) + token
    return Draft(content, "function", f"builtin function {value.__name__}")


def fields(*names: str) -> Callable[[Any], object]:
    """Return a function that returns these attributes of an object as a dictionary."""
    return lambda value: {name: _read(value, name) for name in names}


_write_cached = state_writer("function", fields("__wrapped__"))


def write_cached(value: Any, walk: Walk) -> Writing:
    """Encode an ``lru_cache`` function, without the cached results."""
    draft = yield from _write_cached(value, walk)
    draft.parts["kept"] = str(type(value).cache_info(value).currsize)
    return draft


# The ``id`` of each type of descriptor for attributes that C code or slots store.
_SLOTS = frozenset(map(id, (types.MemberDescriptorType, types.GetSetDescriptorType)))


def _read(value: object, name: str) -> object:
    """Return an attribute of an object, ignoring overrides in user classes."""
    for base in mro(type(value)):
        entry: Any = own(base).get(name)
        if id(type(entry)) in _SLOTS:
            return entry.__get__(value)
    return (anatomy(type(value)).dictionary(value) or {}).get(name)


# --------------------------------------------------------------------------------------------------
# Classes and modules


def write_class(value: type, walk: Walk) -> Writing:
    """Encode a class: by name and version if from a library, else by name and members."""
    title = name_of_class(value).rpartition(".")[2]
    version = library_version(module_of_class(value))
    content = b"class" + text(full_name(value))
    if version is not None:
        return Draft(content + text(version), "class", f"class {title}")
    bases = [text(full_name(base)) for base in type.__dict__["__bases__"].__get__(value)]
    entries = _by_name([item for item in [*own(value).items()] if _is_content(*item)])
    tokens = yield from walk.named(entries)
    content += b"".join(bases) + b"{" + join(tokens)
    if not walk.top:
        return Draft(content, "class")
    summary = f"class {title}, {count(len(tokens), 'attribute')}"
    parts = {f"a:{name}": digest_of(token) for name, token in tokens}
    parts["bases"] = xxh3_128_digest(b"".join(bases))[:8].hex()
    init = dict(entries).get("__init__")
    if type(init) is types.FunctionType and not init.__dict__ and _defaults(init):
        defaults = yield from walk.named(_defaults(init))
        closure = yield from walk.named(cells(init))
        digest_without = xxh3_128_digest(code_digest(init.__code__) + join(closure))
        parts["a:__init__"] = digest_without[:8].hex()
        parts |= _parts_of_defaults(init, defaults)
    return Draft(content, "class", summary, parts)


def _is_content(name: object, entry: object) -> bool:
    return type(name) is str and name not in NOT_CONTENT and id(type(entry)) not in _SLOTS


def module_state(value: types.ModuleType) -> str:
    """Return the name of a module, and its version if it is from a library."""
    name = plain_text(module_names(value).get("__name__"))
    return f"{name} {library_version(name) or ''}".rstrip()
