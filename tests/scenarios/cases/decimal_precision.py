"""The precision of decimals was set by another cell.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: flag decimal.getcontext 3
"""
# %% setup
import decimal
from decimal import Decimal
# %% q
n = str(Decimal(1) / Decimal(7))
# %% ins
decimal.getcontext().prec = 6
