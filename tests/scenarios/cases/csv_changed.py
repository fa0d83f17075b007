"""The table on disk got another value of the same length.

run: write load write@2 load
ask: load
probe: mean
changed: yes
expect: file people.csv
"""
# %% write
from pathlib import Path
_ = Path("people.csv").write_text("name,age\na,30\nb,40\n")
# %% write@2
from pathlib import Path
_ = Path("people.csv").write_text("name,age\na,31\nb,40\n")
# %% load
import pandas as pd
df = pd.read_csv("people.csv")
mean = df["age"].mean().item()
