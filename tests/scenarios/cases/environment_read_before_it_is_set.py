"""The cell reads a variable of the environment, and sets another value then.

run: setup work work
ask: work
probe: rate
changed: yes
expect: environment RATE
"""
# %% setup
import os

os.environ["RATE"] = "0.1"
# %% work
rate = float(os.environ["RATE"])
os.environ["RATE"] = str(rate * 2)
print(rate)
