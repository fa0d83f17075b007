"""The data were made under another precision, which the cell does not use.

run: setup make q ins make q
ask: q
probe: out
changed: yes
expect: input data 5
"""
# %% setup
import decimal
decimal.getcontext().prec = 5
# %% make
data = [float(decimal.Decimal(1) / decimal.Decimal(7))]
# %% q
out = sum(data)
# %% ins
decimal.getcontext().prec = 3
