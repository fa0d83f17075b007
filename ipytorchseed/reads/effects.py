"""Effects of code: the names that it reads, writes, calls and imports."""

from __future__ import annotations

from msgspec import Struct


class Effects(Struct):
    """What a piece of code does with names.

    Dotted names are written as in ``abstract.AbstractValue.paths``.

    Attributes:
        reads: Names looked up before they are certain to be set, each with the names that are
            certain to be set whenever it is looked up; of a function, it may be one of these.
        writes: Names that may be set or deleted.
        must_assign: Those that a function is certain to set.
        paths: Dotted names looked up, such as ``np.random``; with ``=`` at the end, set.
        held: Texts that it takes to be a ``name`` of the namespace, ``code`` or a ``query`` of a
            data frame, where names hold them: as in ``abstract.AbstractValue.texts``.
        calls: Dotted names called, each with the smallest number of arguments, None not counted.
        actions: What it does, in order, each once: as in ``Dependencies.actions``, but names as in
            ``paths``.
        handed: Dotted names given to calls as arguments.
        attributes: Names of attributes that it reads, of whatever object.
        imports: Packages that it imports.
        stars: Modules from which it imports all names.
        files: Files that it runs, in the notebook or as programs of their own.
        texts: Constants that may be names of files or folders.
        programs: Programs of their own that it runs, as in ``magics.Magic``, and what its queries
            ask databases for.
        defined: The code of functions and classes that it defines, by name.
        timed: Names that hold readings of a clock, numbers and nothing else, if all the calls and
            names they are made of are clocks.
        escaped: Calls, such as ``time.time()``, whose answers go elsewhere.
        sets: Dotted names of whose items it makes sets that something may go through, "" where
            that is unknown.
        complete: False where it runs text that is not known before.
        inert: Whether a cell runs no code while it binds its names: it can neither draw nor open
            a file.
    """

    reads: dict[str, frozenset[str]] = {}
    writes: set[str] = set()
    must_assign: set[str] = set()
    paths: set[str] = set()
    held: set[tuple[str, str]] = set()
    calls: dict[str, int] = {}
    actions: dict[str, None] = {}
    handed: set[str] = set()
    attributes: set[str] = set()
    imports: set[str] = set()
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
        """Note that a name is looked up where the names ``assigned`` are set."""
        before = self.reads.get(name)
        if before is None:
            self.reads[name] = frozenset(assigned)
        elif not before <= assigned:
            self.reads[name] = before & assigned

    def call(self, path: str, given: int) -> None:
        """Note a call with so many arguments that are not None."""
        self.calls[path] = min(given, self.calls.get(path, given))

    def add(self, other: Effects) -> None:
        """Add what code inside does, whose names mean the same."""
        for name, assigned in other.reads.items():
            self.read(name, assigned)
        for path, given in other.calls.items():
            self.call(path, given)
        self.actions |= other.actions
        self.writes |= other.writes
        self.paths |= other.paths
        self.handed |= other.handed
        self.escaped |= other.escaped
        self.sets |= other.sets
        self.add_plain(other)

    def add_plain(self, other: Effects) -> None:
        """Add what does not hang on the meaning of names."""
        self.held |= other.held
        self.attributes |= other.attributes
        self.imports |= other.imports
        self.stars |= other.stars
        self.files |= other.files
        self.texts |= other.texts
        self.programs |= other.programs
        self.complete &= other.complete
