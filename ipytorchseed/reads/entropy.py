"""The table of nondeterministic functions: clocks, entropy and other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

ANY = 99
"""Asked by any call."""


def _calls(given: int, functions: Mapping[str, str]) -> dict[str, int]:
    """Return the full names of functions, each with the arguments that a call has at most."""
    return {f"{home}.{name}": given for home, names in functions.items() for name in names.split()}


QUERY_CLOCK, QUERY_RANDOM = "SQL now()", "SQL random()"
"""What queries ask the database for, however it calls it."""

CLOCKS: dict[str, int] = {
    QUERY_CLOCK: ANY,
    **_calls(
        ANY,
        {
            "datetime.date": "today",
            "datetime.datetime": "now today utcnow",
            "numpy": 'datetime64("now") datetime64("today")',
            "os": "times",
            "pandas": 'to_datetime("now") to_datetime("today")',
            "pandas.Timestamp": "now today utcnow",
            "time": "clock_gettime clock_gettime_ns monotonic monotonic_ns perf_counter"
            " perf_counter_ns process_time process_time_ns thread_time thread_time_ns time time_ns",
            "timeit": "repeat timeit",
            "timeit.Timer": "autorange repeat timeit",
            "torch.utils.benchmark.Timer": "adaptive_autorange blocked_autorange timeit",
        },
    ),
    **_calls(0, {"time": "asctime ctime gmtime localtime"}),
    "time.strftime": 1,
}
"""Clocks: asked by a call with at most so many arguments that are not None."""

ENTROPY: dict[str, int] = {
    QUERY_RANDOM: ANY,
    **_calls(
        ANY,
        {
            "os": "getpid getrandom urandom",
            "random": "SystemRandom",
            "secrets": "choice randbelow randbits token_bytes token_hex token_urlsafe",
            "tempfile": "NamedTemporaryFile TemporaryDirectory mkdtemp mkstemp",
            "torch": "seed",
            "torch.Generator": "seed",
            "torch.cuda": "seed seed_all",
            "uuid": "uuid1 uuid4 uuid6 uuid7",
        },
    ),
    **_calls(
        0,
        {
            "numpy.random": "MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence"
            " default_rng seed",
            "numpy.random.RandomState": "seed",
            "random": "Random seed",
            "random.Random": "seed",
        },
    ),
}
"""The operating system's randomness, asked likewise: 0 stands for a call without a seed."""

NUMPY_SEEDED = frozenset(name for name in ENTROPY if name.startswith("numpy.random."))
"""Those of them that let numpy seed a generator: ``secrets`` is asked, where that can be heard."""

BY_PLACE = "object.__hash__"
"""What the order of a set of objects hangs on: where they lie in memory."""

STANDS: dict[str, int] = {BY_PLACE: ANY} | _calls(
    ANY,
    {
        "os": "getloadavg",
        "psutil": "cpu_percent virtual_memory",
        "shutil": "disk_usage",
        "threading": "active_count enumerate get_ident get_native_id",
        "tracemalloc": "get_traced_memory",
    },
)
"""What tells how the process or the machine stands at the moment."""

BY_PERSON = "input"
"""The builtin that asks whoever runs the cell."""

PERSONS: dict[str, int] = {BY_PERSON: ANY, "getpass.getpass": ANY}
"""What asks likewise."""

_BY_SIZE = {
    "torch": "Tensor BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor"
    " HalfTensor IntTensor LongTensor ShortTensor"
}

MEMORY: dict[str, int] = _calls(
    ANY, {"numpy": "empty empty_like", "torch": "empty empty_like", "torch.Tensor": "new_empty"}
) | _calls(ANY, _BY_SIZE)
"""What gives memory as it lies: most code sets all of it before it reads it."""

SIZED: frozenset[str] = frozenset(_calls(ANY, _BY_SIZE))
"""Those of them that copy what they are given, unless it is sizes: several arguments."""

PROGRAMS: dict[str, int] = _calls(
    ANY,
    {
        "asyncio": "create_subprocess_exec create_subprocess_shell",
        "os": "popen system",
        "subprocess": "Popen call check_call check_output getoutput getstatusoutput run",
    },
)
"""What runs another program, of which nothing is recorded."""

NONDETERMINISTIC: dict[str, int] = CLOCKS | ENTROPY | STANDS | PERSONS | MEMORY | PROGRAMS

SYSTEM_RANDOM = "random.SystemRandom"
"""The class whose every method asks."""

NAMES: frozenset[str] = frozenset({
    "os.getpid", "tempfile.NamedTemporaryFile", "tempfile.TemporaryDirectory", "tempfile.mkdtemp",
    "tempfile.mkstemp", "uuid.uuid1", "uuid.uuid4", "uuid.uuid6", "uuid.uuid7",
})  # fmt: skip
"""Those of them that are asked for names and places, on which few results hang."""

CLOCK_TAILS: frozenset[str] = frozenset(name.rpartition(".")[2] for name in CLOCKS)
READING_TAILS: frozenset[str] = CLOCK_TAILS | {name.rpartition(".")[2] for name in NAMES}
TAILS: frozenset[str] = frozenset(name.rpartition(".")[2] for name in NONDETERMINISTIC)
"""Last parts of the names above, to pass over the others quickly."""

SAYS_WHEN = frozenset({"Timestamp", "datetime64", "to_datetime"})
"""Functions that read the clock where the text ``now`` or ``today`` is given, which then counts as
an attribute of theirs: ``numpy.datetime64.now``."""

ALIASES: dict[str, str] = {
    **{
        f"{home}.{function}.{word}": f'{public}.{function}("{word}")'
        for home, public, function in (
            ("numpy", "numpy", "datetime64"),
            ("pandas", "pandas", "to_datetime"),
            ("pandas.core.tools.datetimes", "pandas", "to_datetime"),
        )
        for word in ("now", "today")
    },
    "posix": "os",
    "nt": "os",
    "numpy.random.mtrand": "numpy.random",
    "numpy.random.bit_generator": "numpy.random",
    "pandas.libs.tslibs.timestamps": "pandas",
    "torch.random.seed": "torch.seed",
    "torch.utils.benchmark.utils.timer": "torch.utils.benchmark",
    "timeit.default_timer": "time.perf_counter",
}
"""Where functions and classes are defined, and where one would import them from."""

ADDRESS = "id"
"""The builtin that tells where an object is in memory."""

ADDRESSES = frozenset({f"{ADDRESS}()"})
"""What is made of addresses and nothing else is made of this call."""

PLACES = {BY_PLACE: "objects of a set lie in memory", ADDRESS: "objects lie in memory"}
"""What an order may hang on, each with a clause that tells it."""

BY_HASH = "hash"
"""The builtin whose answer hangs on the hash seed of the process."""


def reads_clock(asked: Iterable[str]) -> bool:
    """Return whether a clock is among what a cell asks."""
    return not CLOCKS.keys().isdisjoint(asked)


def is_program(name: str) -> bool:
    """Return whether what is asked is another program: ``!wget``, ``%pip``, ``subprocess.run``."""
    return name.startswith(("!", "%")) or name in PROGRAMS


def programs_of(asked: Iterable[str]) -> tuple[str, ...]:
    """Return the other programs among what a cell asks."""
    return tuple(filter(is_program, asked))


def say_programs(names: Iterable[str]) -> str:
    """Say of a cell that it runs these programs."""
    return f"runs another program, of which nothing is recorded: {', '.join(names)}"


def sentence(name: str) -> str:
    """Say why what a cell asks may answer differently each time."""
    if is_program(name):
        return f"the cell {say_programs((name,))}"
    if name == BY_PLACE:
        return "the order of a set of objects depends on their addresses in memory"
    if name == ADDRESS:
        return "the cell uses `id()`, which gives addresses in memory"
    if name == QUERY_RANDOM:
        return "the query asks the database for random numbers, which are different every time"
    if name == QUERY_CLOCK:
        return "the query asks the database for the time, which is different every time"
    if name in STANDS or name == "os.getpid":
        what = "returns the state of the process or the machine, which may be different every time"
    elif name in PERSONS:
        what = "asks the user, whose answer may be different every time"
    elif name in MEMORY:
        what = "does not set its numbers: until they are set, they are what the memory held before"
    else:
        asks = "reads the clock" if name in CLOCKS else "draws from the operating system's entropy"
        what = f"{asks} and is different every time"
    return f"the cell calls `{name}()`, which {what}"
