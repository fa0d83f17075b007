"""A pyarrow dataset made in the cell reads a partitioned folder that grew in another cell.

run: setup load add load
ask: load
probe: n
changed: yes
expect: file lake 3
"""
# %% setup
from pathlib import Path
import pandas as pd, pyarrow as pa, pyarrow.dataset as ds
LAKE = Path("data") / "lake"
def add(day, rows):
    ds.write_dataset(pa.table({"day": [day] * rows, "v": list(range(rows))}), LAKE, format="parquet",
                     partitioning=["day"], existing_data_behavior="overwrite_or_ignore")
add("mon", 5); add("tue", 6)
# %% load
table = ds.dataset(LAKE, partitioning=["day"]).to_table()
n = table.num_rows
n
# %% add
add("wed", 7)
