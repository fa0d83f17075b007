"""Rows were added to a database, which cannot be seen into.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: input conn 3
"""
# %% setup
import sqlite3
conn = sqlite3.connect(":memory:")
_ = conn.execute("create table t (a int)")
# %% q
n = conn.execute("select count(*) from t").fetchone()[0]
# %% ins
_ = conn.execute("insert into t values (1)")
