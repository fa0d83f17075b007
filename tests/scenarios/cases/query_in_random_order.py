"""A query asks SQLite for rows in random order.

run: setup sample sample
ask: sample
probe: rows
changed: yes
expect: entropy random
"""
# %% setup
import sqlite3
con = sqlite3.connect(":memory:")
con.execute("create table users (id integer, age integer)")
con.executemany("insert into users values (?, ?)", [(i, 20 + i % 50) for i in range(500)])
con.commit()
# %% sample
rows = con.execute("select id from users order by random() limit 5").fetchall()
print(rows)
