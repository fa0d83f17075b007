"""A database in a file got a row in another cell.

run: setup q other q
ask: q
probe: out
changed: yes
expect: file data.db 3
allow: input con
"""
# %% setup
import sqlite3, contextlib
with contextlib.closing(sqlite3.connect("data.db")) as con:
    con.execute("create table t(x)"); con.execute("insert into t values (1)"); con.commit()
del con
# %% q
with contextlib.closing(sqlite3.connect("data.db")) as c:
    out = c.execute("select sum(x) from t").fetchone()[0]
del c
# %% other
with contextlib.closing(sqlite3.connect("data.db")) as c:
    c.execute("insert into t values (5)"); c.commit()
del c
