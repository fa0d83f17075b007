"""A library returns a set of names, whose order depends on the kernel's hash seed.

run: setup list !restart setup list
ask: list
probe: out
changed: yes
expect: environment PYTHONHASHSEED
kernel: cold
"""
# %% setup
import sympy
formula = sum(sympy.Symbol(f"a{n}") for n in range(20))
# %% list
out = list(map(str, formula.free_symbols))
