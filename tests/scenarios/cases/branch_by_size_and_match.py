"""The size of a list and a match decide: what the other ways read changed as well.

run: setup go change go
ask: go
probe: out
changed: yes
expect: input data 3
"""
# %% setup
data = [1, 2, 3, 4]
fallback = 0
mode = {"kind": "sgd", "rate": 0.1}
rates = [0.5]
# %% go
match mode:
    case {"kind": "adam"}:
        rate = rates[0]
    case {"kind": "sgd", "rate": rate}:
        pass
if (n := len(data)) > 2:
    out = n * rate
else:
    out = fallback
# %% change
data = [*data, 5]
fallback = 7
rates = [0.7]
