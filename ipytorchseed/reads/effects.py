"""Effects of code: the names that it reads, writes, calls and imports."""

from __future__ import annotations

from msgspec import Struct

from ipytorchseed.reads.overwrites import Lent
from ipytorchseed.reads.renewals import Renewal


class Effects(Struct):
    """What a piece of code does with names.

    Dotted names are written as in ``abstract.AbstractValue.paths``.

    Attributes:
        reads: Names looked up before they are certain to be set, each with the names that are
            certain to be set whenever it is looked up; of a function, it may be one of these.
        writes: Names that may be set or deleted.
        must_assign: Those that a function is certain to set.
        paths: Dotted names looked up, such as ``np.random``; with ``=`` at the end, set; with
            ``.[rate]``, of which the item ``rate`` alone is.
        items: Names and keys of items that it looks up by a constant, as in ``params["rate"]``
            (``train.rate`` is the key of ``params["train"]["rate"]``);
            of ``params.get("rate")``, the name with its ``.get``, and no key where it varies;
            none either where an item is only set.
        columns: Names and columns that it reads of them, if they hold data frames, else all: as in
            ``prices.loc[rows, "open"]``; ``columns.ALL_BUT`` those that ``drop`` leaves out. A
            text as in ``abstract.HELD`` stands for those that a name holds, ``.open`` for an
            attribute of some rows, nothing where a function is given each row, ``abstract.PUT``
            an item that is set: of other values, items are read, or ``apply``.
        held: Texts that it takes to be a ``name`` of the namespace, ``code`` or a ``query`` of a
            data frame, where names hold them: as in ``abstract.AbstractValue.texts``.
        calls: Dotted names called, each with the smallest number of arguments, None not counted.
        handed: Dotted names given to calls as arguments.
        given: Names whose values it gives to functions, each with the function's name, or that of
            an object and its method, and with the argument's place or name.
        attributes: Names of attributes that it reads, of whatever object.
        counted: Names of attributes that it adds to, as in ``self.calls += 1``.
        accumulates: Whether it clears gradients only once it has computed some.
        imports: Packages that it imports.
        stars: Modules from which it imports all names.
        files: Files that it runs, in the notebook or as programs of their own.
        texts: Constants that may be names of files or folders.
        programs: Programs of their own that it runs, as in ``magics.Magic``, and what its queries
            ask databases for.
        defined: The code of functions and classes that it defines, by name.
        anew: Names whose content it sets anew before it reads them, and how, as
            ``overwrites.find_overwrites`` tells.
        before: By such a name, the dotted names that it calls until then.
        renewed: Names of objects of which it sets parts anew before it reads them.
        loaders: Of each ``DataLoader`` that it makes, whether it goes over its data in their order,
            in no worker.
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
    items: set[tuple[str, str]] = set()
    columns: set[tuple[str, str]] = set()
    held: set[tuple[str, str]] = set()
    calls: dict[str, int] = {}
    handed: set[str] = set()
    given: set[tuple[str, str, int | str]] = set()
    attributes: set[str] = set()
    counted: set[str] = set()
    accumulates: bool = False
    imports: set[str] = set()
    stars: set[str] = set()
    files: set[str] = set()
    texts: set[str] = set()
    programs: set[str] = set()
    defined: dict[str, Effects] = {}
    anew: dict[str, str | Lent] = {}
    before: dict[str, frozenset[str]] = {}
    renewed: dict[str, Renewal] = {}
    loaders: tuple[bool, ...] = ()
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
        self.writes |= other.writes
        self.paths |= other.paths
        self.items |= other.items
        self.columns |= other.columns
        self.handed |= other.handed
        self.given |= other.given
        self.escaped |= other.escaped
        self.sets |= other.sets
        self.add_plain(other)

    def add_plain(self, other: Effects) -> None:
        """Add what does not hang on the meaning of names."""
        self.held |= other.held
        self.attributes |= other.attributes
        self.counted |= other.counted
        self.accumulates |= other.accumulates
        self.imports |= other.imports
        self.stars |= other.stars
        self.files |= other.files
        self.texts |= other.texts
        self.programs |= other.programs
        self.loaders += other.loaders
        self.complete &= other.complete
