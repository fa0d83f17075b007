"""Effects of code: the names that it reads, writes, calls and imports."""

from __future__ import annotations

from msgspec import Struct


class Effects(Struct):
    """What a piece of code does with names.

    Dotted names have the form of ``abstract.AbstractValue.paths``.

    Attributes:
        reads: Names read before they are certain to be set, each with the names that are certain to
            be set whenever it is read; for a function, these may include the name itself.
        writes: Names that may be set or deleted.
        paths: Dotted names read, such as ``np.random``; with ``=`` at the end, set.
        held: Names that hold a ``text``, which it uses as a name, as code or as a query; and each
            ``pattern`` of names that it looks up.
        calls: Dotted names called, each with the smallest number of arguments, without None.
        actions: What it does, in order, without duplicates: see ``Dependencies.actions``, but with
            names as in ``paths``.
        handed: Dotted names passed to calls as arguments.
        attributes: Names of attributes that it reads, of any object.
        stars: Modules from which it imports all names.
        files: Files that it runs, in the notebook or as separate programs.
        texts: String constants that may be names of files or folders.
        programs: External programs that it runs, as in ``magics.Magic``, and nondeterministic
            functions that its queries call in databases.
        defined: The code of functions and classes that it defines, by name.
        timed: Names that hold only readings of a clock and numbers, if all the calls and names that
            they are computed from are clocks.
        escaped: Calls, such as ``time.time()``, whose results are used in other ways.
        sets: Dotted names whose items it puts into sets that may be iterated, "" if unknown.
        complete: False if it runs a string that is unknown.
        inert: Whether a cell only binds names to constants or functions: it can neither draw nor
            open a file.
    """

    reads: dict[str, frozenset[str]] = {}
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

    def read(self, name: str, assigned: frozenset[str] | set[str] = frozenset()) -> None:
        """Record that a name is read while the names ``assigned`` are set."""
        before = self.reads.get(name)
        if before is None:
            self.reads[name] = frozenset(assigned)
        elif not before <= assigned:
            self.reads[name] = before & assigned

    def call(self, path: str, given: int) -> None:
        """Record a call with the number of arguments that are not None."""
        self.calls[path] = min(given, self.calls.get(path, given))

    def add_plain(self, other: Effects) -> None:
        """Add the effects that do not depend on the meaning of names."""
        for field in ("held", "attributes", "stars", "files", "texts", "programs"):
            getattr(self, field).update(getattr(other, field))
        self.complete &= other.complete
