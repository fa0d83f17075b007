"""A cell between the runs only asks the database: what differs is the random number.

run: setup q look q
ask: q
probe: n
changed: yes
expect: rng python
root: Python's random stream
"""
# %% setup
import random
import sqlite3
random.seed(3)
conn = sqlite3.connect(":memory:")
_ = conn.execute("create table t (a int)")
_ = conn.execute("insert into t values (1)")
# %% q
n = conn.execute("select a from t").fetchone()[0] + random.random()
# %% look
rows = conn.execute("select * from t").fetchall()
