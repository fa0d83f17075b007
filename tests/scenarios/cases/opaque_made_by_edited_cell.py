"""An opaque object was made again by another text; making it as before brings the result back.

run: imports database total database@2 total
ask: total
probe: found
changed: yes
expect: input database 4
says: In[4] was edited
back: complete
"""
# %% imports
import sqlite3
# %% database
database = sqlite3.connect(":memory:")
_ = database.execute("create table loss as select 0.5 as value")
# %% database@2
database = sqlite3.connect(":memory:")
_ = database.execute("create table loss as select 0.25 as value")
# %% total
found = database.execute("select sum(value) from loss").fetchall()
