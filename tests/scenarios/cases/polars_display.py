"""pl.Config was set to show fewer rows.

run: setup show conf show
ask: show
probe: text
changed: yes
expect: flag polars or environment POLARS_FMT_MAX_ROWS 3
"""
# %% setup
import polars as pl
df = pl.DataFrame({"n": range(20)})
# %% show
text = str(df)
print(text)
# %% conf
pl.Config.set_tbl_rows(4);
