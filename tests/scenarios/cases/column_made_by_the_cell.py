"""The cell makes columns of others before it reads them: those from its earlier run do not act.

run: setup label change label
ask: label
probe: counts
changed: yes
expect: input threshold 3
innocent: input df
"""
# %% setup
import pandas as pd

df = pd.DataFrame({"site": list("aabb"), "score": [0.1, 0.55, 0.7, 0.9]})
threshold, margin = 0.5, 0.1


def is_high(row):
    return row["score"] > threshold


def near(row):
    return abs(row["score"] - threshold) < margin


# %% label
df["mean"] = df.groupby("site")["score"].transform("mean")
df["rank"] = df["score"].map(lambda v: round(v, 1))
df["high"] = df.apply(is_high, axis=1)
df.loc[df["rank"] > 0.8, "high"] = False
counts = df["high"].value_counts().to_dict(), df[["mean", "rank"]].sum().tolist()
# %% change
threshold, margin = 0.6, 0.3
