"""The table of nondeterministic functions: clocks, entropy and other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# A number of arguments that no call exceeds: any call is nondeterministic.
ANY = 99


def _calls(given: int, functions: Mapping[str, str]) -> dict[str, int]:
    """Return the full names of functions, each mapped to ``given``.

    Args:
        given: The maximum number of arguments of a nondeterministic call.
        functions: The names of functions, separated by spaces, by module.
    """
    return {f"{home}.{name}": given for home, names in functions.items() for name in names.split()}


# Names for all functions in SQL that return the time or random numbers.
QUERY_CLOCK, QUERY_RANDOM = "SQL now()", "SQL random()"

# Clocks. A call with at most this many arguments (not counting None) reads the clock.
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

# Functions that use the system's entropy if called with at most this many arguments. 0 means: if
# called without a seed.
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

# Functions that let numpy seed a generator. numpy then calls ``secrets``, which can be observed.
NUMPY_SEEDED = frozenset(name for name in ENTROPY if name.startswith("numpy.random."))

# The function that hashes objects by address, so that the order of a set depends on addresses.
BY_PLACE = "object.__hash__"

# Functions that return the state of the process or the machine.
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

# The builtin that asks the user.
BY_PERSON = "input"

# Functions that ask the user.
PERSONS: dict[str, int] = {BY_PERSON: ANY, "getpass.getpass": ANY}

_BY_SIZE = {
    "torch": "Tensor BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor"
    " HalfTensor IntTensor LongTensor ShortTensor"
}

# Functions that return uninitialized memory. Most code writes to all of it before reading.
MEMORY: dict[str, int] = _calls(
    ANY, {"numpy": "empty empty_like", "torch": "empty empty_like", "torch.Tensor": "new_empty"}
) | _calls(ANY, _BY_SIZE)

# Functions that copy a single argument, but interpret several arguments as a shape. Only calls with
# several arguments return uninitialized memory.
SIZED: frozenset[str] = frozenset(_calls(ANY, _BY_SIZE))

# Functions that run another program, whose effects are not recorded.
PROGRAMS: dict[str, int] = _calls(
    ANY,
    {
        "asyncio": "create_subprocess_exec create_subprocess_shell",
        "os": "popen system",
        "subprocess": "Popen call check_call check_output getoutput getstatusoutput run",
    },
)

NONDETERMINISTIC: dict[str, int] = CLOCKS | ENTROPY | STANDS | PERSONS | MEMORY | PROGRAMS

# The class whose methods all use the system's entropy.
SYSTEM_RANDOM = "random.SystemRandom"

# Functions that return unique names and paths, which affect few results.
NAMES: frozenset[str] = frozenset({
    "os.getpid", "tempfile.NamedTemporaryFile", "tempfile.TemporaryDirectory", "tempfile.mkdtemp",
    "tempfile.mkstemp", "uuid.uuid1", "uuid.uuid4", "uuid.uuid6", "uuid.uuid7",
})  # fmt: skip

# The last parts of the names of functions whose results most code only stores or shows.
READING_TAILS = frozenset(name.rpartition(".")[2] for name in CLOCKS.keys() | NAMES)

# Functions that read the clock if the first argument is ``now`` or ``today``. The call is recorded
# as if the argument were an attribute: ``numpy.datetime64.now``.
SAYS_WHEN = frozenset({"Timestamp", "datetime64", "to_datetime"})

# The names that users import, by the names under which the functions or modules are defined.
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
    "sqlalchemy.sql.functions.now": QUERY_CLOCK,
    "sqlalchemy.sql.functions.random": QUERY_RANDOM,
    "torch.random.seed": "torch.seed",
    "torch.utils.benchmark.utils.timer": "torch.utils.benchmark",
    "timeit.default_timer": "time.perf_counter",
}

# The last parts of all names above, used to skip other calls quickly.
TAILS: frozenset[str] = frozenset(name.rpartition(".")[2] for name in (*NONDETERMINISTIC, *ALIASES))

# The builtin that returns the address of an object.
ADDRESS = "id"

# What a result may depend on, as the end of a clause: “it depends on where …”.
PLACES = {BY_PLACE: "objects of a set are in memory", ADDRESS: "objects are in memory"}

# The builtin whose result depends on the hash seed of the process.
BY_HASH = "hash"


def reads_clock(asked: Iterable[str]) -> bool:
    """Return whether any of these nondeterministic calls reads a clock."""
    return not CLOCKS.keys().isdisjoint(asked)


def is_program(name: str) -> bool:
    """Return whether a call runs another program: ``!wget``, ``subprocess.run``."""
    return name.startswith(("!", "%")) or name in PROGRAMS


def programs_of(asked: Iterable[str]) -> tuple[str, ...]:
    """Return the external programs among nondeterministic calls."""
    return tuple(filter(is_program, asked))


def call_of(name: str) -> str:
    """Return a nondeterministic function as users write its call, in backticks."""
    return f"`{name}`" if name.endswith(")") else f"`{name}()`"


def say_programs(names: Iterable[str]) -> str:
    """Return a clause that says that a cell runs these programs."""
    return f"runs another program, whose effects are not recorded: {', '.join(names)}"


def sentence(name: str) -> str:
    """Return a sentence that says why a call may be different every time."""
    if is_program(name):
        return f"the cell {say_programs((name,))}"
    if name == BY_PLACE:
        return "the order of a set of objects depends on their addresses in memory"
    if name == ADDRESS:
        return "the cell uses `id()`, which gives addresses in memory"
    if name == QUERY_RANDOM:
        return "the query asks the database for random numbers, and this cell does not seed them"
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
    return f"the cell calls {call_of(name)}, which {what}"
