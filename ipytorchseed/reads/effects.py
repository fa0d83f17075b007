"""The effects of code: the names that it reads, writes, calls and imports."""

from __future__ import annotations

from msgspec import Struct


class Effects(Struct):
    """The effects of a piece of code on names.

    The class ``scope.Scope`` describes the form of dotted names.

    Attributes:
        reads: Names that the code may read before it sets them, in order.
        writes: Names that may be set or deleted.
        paths: Dotted names that are read, such as ``np.random``, or set, such as ``cfg.lr=``.
        held: Strings that are used as names. ``("text", name)`` is a variable whose string is a
            name, code or a query. ``("pattern", pattern)`` matches names that the code builds and
            looks up.
        calls: Dotted names that are called, each with the smallest number of arguments that are not
            None.
        actions: The actions of the code, in order and without duplicates. See
            ``Dependencies.actions``, but names are as in ``paths``.
        handed: Dotted names that are passed to calls as arguments.
        attributes: Names of attributes that are read from any object.
        stars: Modules from which all names are imported.
        files: Files that are run, in the notebook or as separate programs.
        texts: String constants that may be names of files or folders.
        programs: External programs that are run, as in ``magics.Magic``, and nondeterministic SQL
            functions in queries.
        defined: The effects of functions and classes that the code defines, by name.
        timed: Names whose values are only computed from calls, other names and constants. Each is
            mapped to these calls and names. If all of them read a clock or hold such a reading, the
            value is a reading too.
        escaped: Calls, such as ``time.time()``, whose results are not only stored or printed.
        sets: Dotted names whose items are put into sets that may be iterated, "" if unknown.
        complete: False if the code runs a string whose content is unknown.
        inert: Whether a cell only assigns constants or defines functions. Such a cell can neither
            draw nor open a file.
    """

    reads: dict[str, None] = {}
    writes: set[str] = set()
    paths: set[str] = set()
    held: set[tuple[str, str]] = set()
    calls: dict[str, int] = {}
    actions: dict[str, None] = {}
    handed: set[str] = set()
    attributes: set[str] = set()
    stars: set[str] = set()
    files: set[str] = set()
    texts: set[str] = set()
    programs: set[str] = set()
    defined: dict[str, Effects] = {}
    timed: dict[str, frozenset[str]] = {}
    escaped: set[str] = set()
    sets: set[str] = set()
    complete: bool = True
    inert: bool = False

    def call(self, path: str, given: int) -> None:
        """Record a call with the number of arguments that are not None."""
        self.calls[path] = min(given, self.calls.get(path, given))
