"""The predictions are written where the data lie; the loading cell globs them too.

run: setup load predict load
ask: load
probe: len(df)
changed: yes
expect: file shards_b 3
"""
# %% setup
import numpy as np, pandas as pd
from pathlib import Path
root = Path("shards_b"); root.mkdir(exist_ok=True)
for old in root.glob("*.parquet"):
    old.unlink()
rng = np.random.default_rng(0)
for k in range(3):
    pd.DataFrame({"x": rng.normal(size=10), "y": rng.normal(size=10)}).to_parquet(root / f"part{k}.parquet")
# %% load
df = pd.concat([pd.read_parquet(p) for p in sorted(root.glob("*.parquet"))], ignore_index=True)
print(len(df), df.x.mean())
# %% predict
pred = df[["x"]].assign(y=df.x * 0.5)
pred.to_parquet(root / "pred.parquet")
