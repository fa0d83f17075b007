"""The query is a variable of another cell.

run: setup sample sample
ask: sample
probe: rows.id.tolist()
changed: yes
expect: entropy random
"""
# %% setup
import sqlite3
import pandas as pd
con = sqlite3.connect("users.db")
pd.DataFrame({"id": range(500), "age": range(500)}).to_sql("users", con, if_exists="replace", index=False)
QUERY = """
    SELECT id
    FROM users
    ORDER BY RANDOM()
    LIMIT 5
"""
# %% sample
rows = pd.read_sql(QUERY, con)
