"""The table of functions whose answer is new each time: clocks, entropy and other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ANY = 99
"""Asked by any call."""

CLOCKS: dict[str, int] = {
    "datetime.date.today": ANY,
    "datetime.datetime.now": ANY,
    "datetime.datetime.today": ANY,
    "datetime.datetime.utcnow": ANY,
    "os.times": ANY,
    "pandas.Timestamp.now": ANY,
    "pandas.Timestamp.today": ANY,
    "pandas.Timestamp.utcnow": ANY,
    "time.asctime": 0,
    "time.clock_gettime": ANY,
    "time.clock_gettime_ns": ANY,
    "time.ctime": 0,
    "time.gmtime": 0,
    "time.localtime": 0,
    "time.monotonic": ANY,
    "time.monotonic_ns": ANY,
    "time.perf_counter": ANY,
    "time.perf_counter_ns": ANY,
    "time.process_time": ANY,
    "time.process_time_ns": ANY,
    "time.strftime": 1,
    "time.thread_time": ANY,
    "time.thread_time_ns": ANY,
    "time.time": ANY,
    "time.time_ns": ANY,
}
"""Clocks: asked by a call with at most so many arguments that are not None."""

ENTROPY: dict[str, int] = {
    "numpy.random.MT19937": 0,
    "numpy.random.PCG64": 0,
    "numpy.random.PCG64DXSM": 0,
    "numpy.random.Philox": 0,
    "numpy.random.RandomState": 0,
    "numpy.random.RandomState.seed": 0,
    "numpy.random.SFC64": 0,
    "numpy.random.SeedSequence": 0,
    "numpy.random.default_rng": 0,
    "numpy.random.seed": 0,
    "os.getpid": ANY,
    "os.getrandom": ANY,
    "os.urandom": ANY,
    "random.Random": 0,
    "random.Random.seed": 0,
    "random.SystemRandom": ANY,
    "random.seed": 0,
    "secrets.choice": ANY,
    "secrets.randbelow": ANY,
    "secrets.randbits": ANY,
    "secrets.token_bytes": ANY,
    "secrets.token_hex": ANY,
    "secrets.token_urlsafe": ANY,
    "tempfile.NamedTemporaryFile": ANY,
    "tempfile.TemporaryDirectory": ANY,
    "tempfile.mkdtemp": ANY,
    "tempfile.mkstemp": ANY,
    "torch.Generator.seed": ANY,
    "torch.cuda.seed": ANY,
    "torch.cuda.seed_all": ANY,
    "torch.seed": ANY,
    "uuid.uuid1": ANY,
    "uuid.uuid4": ANY,
    "uuid.uuid6": ANY,
    "uuid.uuid7": ANY,
}
"""The operating system's randomness, asked likewise: 0 stands for a call without a seed."""

STANDS: dict[str, int] = {
    "os.getloadavg": ANY,
    "psutil.cpu_percent": ANY,
    "psutil.virtual_memory": ANY,
    "shutil.disk_usage": ANY,
    "threading.active_count": ANY,
    "threading.enumerate": ANY,
    "threading.get_ident": ANY,
    "threading.get_native_id": ANY,
    "tracemalloc.get_traced_memory": ANY,
}
"""What tells how the process or the machine stands at the moment."""

BY_PERSON = "input"
"""The builtin that asks whoever runs the cell."""

PERSONS: dict[str, int] = {BY_PERSON: ANY, "getpass.getpass": ANY}
"""What asks likewise."""

MEMORY: dict[str, int] = {
    "numpy.empty": ANY,
    "numpy.empty_like": ANY,
    "torch.empty": ANY,
    "torch.empty_like": ANY,
}
"""What gives memory as it lies: most code sets all of it before it reads it."""

PROGRAMS: dict[str, int] = {
    "os.popen": ANY,
    "os.system": ANY,
    "subprocess.Popen": ANY,
    "subprocess.call": ANY,
    "subprocess.check_call": ANY,
    "subprocess.check_output": ANY,
    "subprocess.getoutput": ANY,
    "subprocess.getstatusoutput": ANY,
    "subprocess.run": ANY,
}
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

ALIASES: dict[str, str] = {
    "posix": "os",
    "nt": "os",
    "numpy.random.mtrand": "numpy.random",
    "numpy.random.bit_generator": "numpy.random",
    "pandas.libs.tslibs.timestamps": "pandas",
    "torch.random.seed": "torch.seed",
    "timeit.default_timer": "time.perf_counter",
}
"""Where functions and classes are defined, and where one would import them from."""

ADDRESS = "id"
"""The builtin that tells where an object lies in memory: no content, whatever is made of it."""

ADDRESSES = frozenset({f"{ADDRESS}()"})
"""What is made of addresses and nothing else is made of this call."""

BY_HASH = "hash"
"""The builtin whose answer hangs on the hash seed of the process."""


def reads_clock(asked: Iterable[str]) -> bool:
    """Tell whether a clock is among what a cell asks."""
    return not CLOCKS.keys().isdisjoint(asked)


def is_program(name: str) -> bool:
    """Tell whether what is asked is another program: ``!wget``, ``%pip``, ``subprocess.run``."""
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
    if name in STANDS:
        what = "tells how the process or the machine stands: it may answer differently each time"
    elif name in PERSONS:
        what = "asks whoever runs it: the answer may be another each time"
    elif name in MEMORY:
        what = "sets no number: those that nobody sets later are what the memory held before"
    else:
        asks = "reads the clock" if name in CLOCKS else "asks the system for entropy"
        what = f"{asks}: it answers differently each time"
    return f"the cell calls {name}, which {what}"
