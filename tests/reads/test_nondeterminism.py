"""Which clocks and entropy a cell reads, and which clocks only time it."""

from __future__ import annotations

import datetime as dt
import math
import os
import random
import secrets
import time
import types
import uuid
from functools import partial

import numpy as np
import pytest
import torch

from ipytorchseed.reads.entropy import NONDETERMINISTIC, QUERY_CLOCK, QUERY_RANDOM, SIZED

MODULES = {
    "np": np, "torch": torch, "random": random, "secrets": secrets, "time": time, "uuid": uuid,
    "os": os, "datetime": dt,
}  # fmt: skip

ASKED = {
    "time.time()": "time.time",
    "time.time_ns()": "time.time_ns",
    "time.localtime()": "time.localtime",
    "time.localtime(0)": "",
    "time.strftime('%Y')": "time.strftime",
    "time.strftime('%Y', then)": "",
    "time.sleep(1)": "",
    "datetime.datetime.now()": "datetime.datetime.now",
    "datetime.datetime.now(tz)": "datetime.datetime.now",
    "datetime.datetime(2020, 1, 1)": "",
    "datetime.date.today()": "datetime.date.today",
    "os.urandom(8)": "os.urandom",
    "os.path.join(a, b)": "",
    "os.system('date')": "os.system",
    "import subprocess\nsubprocess.run(['date'], check=True)": "subprocess.run",
    "from subprocess import check_output\ncheck_output(['date'])": "subprocess.check_output",
    "uuid.uuid4()": "uuid.uuid4",
    "uuid.uuid5(a, b)": "",
    "secrets.token_hex()": "secrets.token_hex",
    "secrets.choice(xs)": "secrets.choice",
    "secrets.SystemRandom().random()": "random.SystemRandom",
    "random.SystemRandom().choice(xs)": "random.SystemRandom",
    "random.seed()": "random.seed",
    "random.seed(None)": "random.seed",
    "random.seed(3)": "",
    "random.seed(a=None)": "random.seed",
    "random.Random()": "random.Random",
    "random.Random(3)": "",
    "random.random()": "",
    "torch.Tensor(2, 3)": "torch.Tensor",
    "torch.Tensor([2, 3])": "",
    "torch.Tensor(*args)": "",
    "isinstance(seed, torch.Tensor)": "",
    "list(map(torch.Tensor, [[1]]))": "",
    "np.random.default_rng()": "numpy.random.default_rng",
    "np.random.default_rng(None)": "numpy.random.default_rng",
    "np.random.default_rng(seed=None)": "numpy.random.default_rng",
    "np.random.default_rng(seed)": "",
    "np.random.default_rng(*args)": "",
    "np.random.default_rng(**options)": "",
    "np.random.RandomState()": "numpy.random.RandomState",
    "np.random.RandomState(0)": "",
    "np.random.Generator(np.random.PCG64())": "numpy.random.PCG64",
    "np.random.Generator(np.random.PCG64(1))": "",
    "np.random.SeedSequence()": "numpy.random.SeedSequence",
    "np.random.seed()": "numpy.random.seed",
    "np.random.seed(0)": "",
    "np.random.rand(3)": "",
    "torch.seed()": "torch.seed",
    "torch.random.seed()": "torch.seed",
    "torch.manual_seed(0)": "",
    "torch.initial_seed()": "",
    "torch.Generator().seed()": "torch.Generator.seed",
    "torch.Generator()": "",
    "torch.Generator().manual_seed(0)": "",
    "g = torch.Generator(); g.seed()": "torch.Generator.seed",
    "train_test_split(X, y, random_state=None)": "",
    # under other names
    "from time import time as now\nnow()": "time.time",
    "import time as t\nt.time()": "time.time",
    "import datetime as dt\ndt.datetime.now()": "datetime.datetime.now",
    "from datetime import datetime\ndatetime.now().isoformat()": "datetime.datetime.now",
    "import numpy\nnumpy.random.default_rng()": "numpy.random.default_rng",
    "from numpy import random as npr\nnpr.default_rng()": "numpy.random.default_rng",
    "from numpy.random import default_rng as rng\nrng()": "numpy.random.default_rng",
    "now = time.time\nnow()": "time.time",
    "r = np.random\nr.default_rng()": "numpy.random.default_rng",
    "tick()": "time.time",
    "rng()": "numpy.random.default_rng",
    "seed()": "random.seed",
    "seed(3)": "",
    "npseed()": "numpy.random.seed",
    "npseed(3)": "",
    "choice(xs)": "secrets.choice",
    "shuffle(xs)": "",
    "now()": "datetime.datetime.now",
    "system.random()": "random.SystemRandom",
    "gen.seed()": "torch.Generator.seed",
    "gen.manual_seed(3)": "",
    "state.seed()": "numpy.random.RandomState.seed",
    "state.rand(3)": "",
    "dice.seed()": "random.Random.seed",
    # input of a person
    "n = int(input('How many? '))": "input",
    "def f(): return input()\nf()": "input",
    "input = len\ninput(xs)": "",
    "r.input()": "",
    # only mentioned, or passed on
    "time.time": "",
    "f = np.random.default_rng": "",
    "isinstance(r, np.random.RandomState)": "",
    "callbacks.append(time.time)": "time.time",
    "field(default_factory=uuid.uuid4)": "uuid.uuid4",
    "field(default_factory=np.random.default_rng)": "",
    # the cell's own
    "def f(): return time.time()": "",
    "def f(): return time.time()\nf()": "time.time",
    "time = clock\ntime.time()": "",
    "def f(time): return time.time()\nf(3)": "",
    "class A:\n    def now(self): return time.time()\nA().now()": "time.time",
    "import os.path\nos.urandom(3)": "os.urandom",
    "for _ in range(3): torch.seed()": "torch.seed",
}  # fmt: skip


@pytest.mark.parametrize("cell", ASKED)
def test_asked(notebook, cell):
    """A function counts if it is called, and is listed by its import name."""
    notebook.run(
        **MODULES,
        tick=time.time, rng=np.random.default_rng, seed=random.seed, npseed=np.random.seed,
        choice=secrets.choice, shuffle=random.shuffle, now=dt.datetime.now,
        system=random.SystemRandom(), gen=torch.Generator(), state=np.random.RandomState(0),
        dice=random.Random(0), r=3, xs=[1], callbacks=[],
    )  # fmt: skip
    assert notebook.dependencies(cell).nondeterministic_calls == {ASKED[cell]} - {""}


@pytest.mark.parametrize(
    "body",
    [
        "return time.time()",
        "from time import time as now\n    return now()",
        "import time as t\n    return t.time()",
        "return (lambda: time.time())()",
        "return [time.time() for _ in range(3)]",
        "clock = time.time\n    return clock()",
        "def inner(): return time.time()\n    return inner()",
        "return {'a': time.time()}",
        "return use(f=time.time)",
        "yield time.time()",
        "with open(p) as f: f.write(str(time.time()))",
        "try:\n        return time.time()\n    finally: pass",
        "return 1 if c else time.time()",
    ],
)
def test_inside_functions(notebook, body):
    """A clock is found in functions of earlier cells."""
    notebook.run(f"import time\ndef f():\n    {body}\ndef g(): return f()")
    assert notebook.dependencies("g()").nondeterministic_calls == {"time.time"}


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("return default_rng()", True),
        ("return default_rng(None)", True),
        ("return default_rng(seed=None)", True),
        ("return default_rng(0)", False),
        ("return default_rng(seed)", False),
        ("return default_rng(cfg.seed)", False),
        ("return default_rng(*seeds)", False),
        ("return default_rng(**seeds)", False),
        ("return default_rng(seed=seed)", False),
        ("return default_rng", False),
        ("return default_rng(f(None))", False),
    ],
)
def test_seeds_inside_functions(notebook, body, asked):
    """Compiled functions also show whether a generator gets a seed."""
    notebook.run(f"from numpy.random import default_rng\ndef f(seed=None): {body}")
    assert notebook.dependencies("f()").nondeterministic_calls == (
        {"numpy.random.default_rng"} if asked else set()
    )


def test_beyond_functions(notebook):
    """Clocks are found through closures, partials, methods, defaults and decorators."""
    for cell in (
        "h = (lambda c: lambda: c())(f)",
        "h = partial(f)",
        "class A:\n    def m(self): return f()\nh = A().m",
        "def h(c=f): return c()",
        "def h(*, c=f): return c()",
        "@wraps(f)\ndef h(): return 1",
        "h = {'a': [f]}",
    ):
        notebook.run("import time\ndef f(): return time.time()", partial=partial)
        notebook.run("from functools import wraps", cell)
        assert notebook.dependencies("h").nondeterministic_calls == {"time.time"}, cell


def test_table():
    """Every function of the table that this interpreter has is found when called."""
    # Sets call object.__hash__: see test_hashes.py.
    missing = {"uuid.uuid6", "uuid.uuid7", "object.__hash__", QUERY_CLOCK, QUERY_RANDOM} | {
        name for name in NONDETERMINISTIC if name.startswith("pandas.")
    }
    from ipytorchseed.reads.cell import effects_of_cell
    from ipytorchseed.reads.following import find_dependencies

    for name, most in NONDETERMINISTIC.items():
        module, _, _ = name.rpartition(".")
        if name in missing or module.rpartition(".")[2][:1].isupper():
            continue
        arguments = ", ".join(["x"] * (2 if name in SIZED else min(most, 1)))
        asks = find_dependencies(
            effects_of_cell(f"import {module or 'builtins'}\n{name}({arguments})", str),
            {},
            seconds=math.inf,
        ).nondeterministic_calls
        assert asks == {name}


QUERIES = {
    "select id from t order by random() limit 5": QUERY_RANDOM,
    """
    SELECT id FROM t
    ORDER BY RANDOM ( )
    """: QUERY_RANDOM,
    "WITH s AS (SELECT * FROM t TABLESAMPLE system(5)) SELECT * FROM s": QUERY_RANDOM,
    "insert into t values (randomblob(16))": QUERY_RANDOM,
    "select * from t where day > date('now')": QUERY_CLOCK,
    "update t set seen = CURRENT_TIMESTAMP": QUERY_CLOCK,
    "select * from t tablesample system(5) repeatable (42)": "",
    "select rand(42), random from t": "",  # a seed, a column
    "select nowhere() from t": "",
    "With random (seeded) weights": "",
    "order by random()": "",
}


@pytest.mark.parametrize(("query", "asked"), QUERIES.items())
def test_queries(notebook, query, asked):
    """Nondeterministic queries are found in the cell, in a name or in a function."""
    for before, cell in (
        ("", f"con.execute({query!r})"),
        (f"QUERY = {query!r}", "con.execute(QUERY)"),
        (f"def load(con): return con.execute({query!r})", "load(con)"),
    ):
        notebook.run(f"con = object()\n{before}")
        assert notebook.dependencies(cell).nondeterministic_calls == ({asked} if asked else set())


def test_a_cell_that_seeds_the_database_asks_for_nothing_random(notebook):
    """DuckDB and PostgreSQL then give the same numbers."""
    query = "con.execute('select random()')"
    notebook.run("con = object()")
    assert notebook.dependencies(query).nondeterministic_calls == {QUERY_RANDOM}
    seeded = f"con.execute('SELECT setseed(0.42)'); {query}"
    assert not notebook.dependencies(seeded).nondeterministic_calls


# --------------------------------------------------------------------------------------------------
# Timing


TIMED = {
    "t0 = time.time()": "t0",
    "dt = time.time() - t0": "",
    "t0 = time.time()\nwork(x)\ndt = time.time() - t0": "t0 dt",
    "t0 = time.perf_counter()\ndt = round((time.perf_counter() - t0) * 1000, 2)": "t0 dt",
    "t0 = datetime.datetime.now()\ndt = (datetime.datetime.now() - t0).total_seconds()": "t0 dt",
    "from time import perf_counter as pc\nt0 = pc(); print(f'{pc() - t0:.2f} s')": "t0",
    "t0 = time.time()\nprint('took', time.time() - t0, loss)": "t0",
    "t0 = time.time()\nprint(f'{loss} in {time.time() - t0:.1f}')": "t0",
    "t0 = time.time()\nlogger.info('%s in %.1f', loss, time.time() - t0)": "t0",
    "t0 = time.time()\nprint('%.2f' % (time.time() - t0))": "t0",
    "t0 = time.time()\nprint('{:.2f}'.format(time.time() - t0))": "t0",
    "total = 0.0\nfor x in xs:\n    t0 = time.time(); work(x); total += time.time() - t0": "t0 total",
    "times = []\nfor x in xs:\n    t0 = time.time(); work(x); times.append(time.time() - t0)": "t0 times",
    "t0 = time.time()\nrun = {'start': t0}": "t0 run",
    "t0, n = time.time(), 3": "t0",
    "t0 = t1 = time.time()": "t0 t1",
    "t0 = -time.time()": "t0",
    "t0 = time.time(); t0 = 3": "t0",
    # used in other ways
    "t0 = time.time()\nrandom.seed(t0)": "",
    "t0 = time.time()\nnet = make(int(t0))": "",
    "t0 = time.time()\nwhile time.time() - t0 < 5: work(x)": "",
    "t0 = time.time()\ny = x[int(t0)]": "",
    "t0 = time.time()\ny = x + t0": "",
    "t0 = time.time()\ny = x if t0 > 3 else z": "",
    "t0 = time.time()\nobj.start = t0": "",
    "t0 = time.time()\nhistory['t'] = time.time() - t0": "",
    "t0 = time.time()\nspeed = n / (time.time() - t0) * x": "",
    "name = f'run-{time.time()}'": "name",
    "name = f'{model}-{time.time()}'": "",
    "t0 = time.time(); t0 = x": "",
    "t0 = f()": "",
    "rng = np.random.default_rng()": "",
    "times = []\ntimes.append(time.time()); times.append(loss)": "",
    "times = [time.time(), loss]": "",
    "times = []\ntimes.append(loss); times.append(time.time())": "",
    "run = {}\nrun['loss'] = loss; run['t'] = time.time()": "",
    "run = {'loss': loss}\nrun['t'] = time.time()": "",
    "run = {'n': 3}\nrun['t'] = time.time()": "run",
    "run = {'n': 3}\nrun['loss'] = loss\nrun['t'] = time.time()": "",
    # addresses
    "key = id(model)": "key",
    "name = f'model-{id(model)}'": "name",
    "keys = [id(each) for each in parts]": "keys",
    "seen = {id(each): each for each in parts}": "",
    "name = f'{id(model)}-{time.time()}'": "name",
    "pair = [id(model), loss]": "",
    "id = hash\nkey = id(model)": "",
}  # fmt: skip


@pytest.mark.parametrize("cell", TIMED)
def test_timed(notebook, cell):
    """A name is timed if it only holds readings of clocks that are not used otherwise."""
    notebook.run(**MODULES)
    found = notebook.dependencies(cell)
    assert found.timed == set(TIMED[cell].split())


def test_timed_across_cells(notebook):
    """A name of an earlier cell only counts as a reading if it was recorded as one."""
    notebook.run("import time\nt0 = time.time()")
    cell = "dt = time.time() - t0\nprint(dt)"
    assert notebook.dependencies(cell).timed == set()
    assert notebook.dependencies(cell, timed={"t0"}).timed == {"dt", "t0"}
    used = "dt = time.time() - t0\nseed(t0)"
    assert notebook.dependencies(used, timed={"t0"}).timed == {"dt"}
    assert notebook.dependencies("dt = time.time() - x", timed={"t0"}).timed == set()


@pytest.mark.parametrize(
    ("cell", "timing"),
    [
        ("t0 = time.time()\nwork()\nprint(time.time() - t0)", True),
        ("random.seed(time.time())", False),
        ("time.time()", True),
        ("t0 = time.time()\nif time.time() - t0 > 3: stop()", False),
        ("tick()", False),
        ("call(time.time)", False),
        ("timed()", True),
        ("stamped()", False),
        ("x = len(data) / (time.time() - begin())", False),
        ("x = sum(data) + time.time_ns() % 1000", False),
    ],
)
def test_clocks_that_only_time(notebook, cell, timing):
    """Clocks whose readings are only kept or printed are distinguished from others."""
    notebook.run(
        """
        import time
        def timed():
            start = time.time()
            print(f"{time.time() - start:.1f} s")
            return 3
        def stamped(): return {"at": time.time()}
        """,
        **MODULES,
        tick=time.time,
    )
    found = notebook.dependencies(cell)
    assert found.nondeterministic_calls in ({"time.time"}, {"time.time_ns"})
    assert bool(found.timing) is timing


def test_a_lazy_module_is_not_woken(notebook):
    """The lazy attributes of a module are not computed."""

    class Lazy(types.ModuleType):
        def __getattribute__(self, name):
            raise AssertionError(name)

    notebook.run(lazy=Lazy("lazy"))
    assert notebook.dependencies("lazy.time.time()").nondeterministic_calls == set()
