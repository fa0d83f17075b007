"""A cell asks how deep calls may go, which another cell set.

run: setup work deeper work
ask: work
probe: depth
changed: yes
expect: flag sys.setrecursionlimit 3
"""
# %% setup
import sys
# %% work
depth = min(2000, sys.getrecursionlimit() // 2)
# %% deeper
sys.setrecursionlimit(5000)
