"""A cell was edited to print, and the table in memory that it reads was updated: no way back.

run: setup report report@2 update report@2
ask: report
probe: rows
changed: yes
expect: input db 4
says: In[4] changed `db`: rows written 2 → 3
"""
# %% setup
import sqlite3
db = sqlite3.connect(":memory:")
db.execute("create table t (who text, n int)")
db.executemany("insert into t values (?, ?)", [("bob", 2), ("ann", 1)])
# %% report
rows = db.execute("select who, n from t order by who").fetchall()
# %% report@2
rows = db.execute("select who, n from t order by who").fetchall()
print(len(rows), "rows")
# %% update
_ = db.execute("update t set n = n + 5 where who = 'ann'")
