"""The cell asks for a secret number.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: entropy secrets
"""
# %% setup
import secrets
# %% draw
out = secrets.randbelow(10**12)
