"""A cell asks a database through a connection that another one opened, and a third one adds a row.

run: setup ask add ask
ask: ask
probe: total
changed: yes
expect: file shop.db 3 or input con 3
"""
# %% setup
import sqlite3
con = sqlite3.connect("shop.db")
con.execute("create table if not exists sales (price real)")
con.executemany("insert into sales values (?)", [(1.0,), (2.0,)])
con.commit()
# %% ask
total = con.execute("select sum(price) from sales").fetchone()[0]
print(total)
# %% add
con.execute("insert into sales values (5.0)")
con.commit()
