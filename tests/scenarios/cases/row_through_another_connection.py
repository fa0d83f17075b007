"""A row came into the database through another connection than the one that the cell reads.

run: setup total add total
ask: total
probe: total
changed: yes
expect: input con 3
says: wrote sales.db
"""
# %% setup
import sqlite3
con = sqlite3.connect("sales.db")
con.execute("create table sales (price real)")
con.executemany("insert into sales values (?)", [(1.0,), (2.0,)])
con.commit()
# %% total
total = con.execute("select sum(price) from sales").fetchone()[0]
# %% add
other = sqlite3.connect("sales.db")
other.execute("insert into sales values (40)")
other.commit()
other.close()
