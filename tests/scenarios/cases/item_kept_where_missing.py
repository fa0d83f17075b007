"""A function keeps what it made in a dictionary and returns that the next time, then it was changed.

run: setup look change look
ask: look
probe: out
changed: yes
expect: input kept 3
"""
# %% setup
kept = {}
def make(v):
    try:
        kept["made"]
    except KeyError:
        kept["made"] = v * 2
v = 3
# %% look
make(v)
out = kept["made"] + 1
print(out)
# %% change
kept["made"] = 100
