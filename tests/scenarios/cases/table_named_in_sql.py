"""pl.sql finds the frame by the name in the statement; another cell filtered that frame.

run: setup q clean q
ask: q
probe: avg
changed: yes
expect: input rides 3
"""
# %% setup
import polars as pl
rides = pl.DataFrame({"zone": [1, 1, 2, 2, 3], "fare": [5.0, 7.5, 20.0, 300.0, 9.0]})
zones = pl.DataFrame({"zone": [1, 2, 3], "name": ["centre", "airport", "port"]})
# %% q
res = pl.sql("""
    SELECT z.name, AVG(r.fare) AS fare
    FROM rides r JOIN zones z ON r.zone = z.zone
    GROUP BY z.name ORDER BY z.name
""").collect()
avg = res["fare"].to_list()
res
# %% clean
rides = rides.filter(pl.col("fare") < 100)
