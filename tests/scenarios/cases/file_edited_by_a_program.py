"""A program that another cell started edited the file.

run: setup q other q
ask: q
probe: out
changed: yes
expect: file d.csv 3
"""
# %% setup
import pandas as pd
from pathlib import Path
Path("d.csv").write_text("a\n1\n2\n")
ROOT="."
# %% q
out = int(pd.read_csv(f"{ROOT}/d.csv")["a"].sum())
# %% other
!sed -i s/2/9/ d.csv
