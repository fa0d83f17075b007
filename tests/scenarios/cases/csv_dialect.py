"""A dialect of CSV was registered again, under its old name.

run: setup read again read
ask: read
probe: rows
changed: yes
expect: flag csv.register_dialect 3
"""
# %% setup
import csv

csv.register_dialect("ours", delimiter=",")
# %% again
csv.register_dialect("ours", delimiter=";")
# %% read
rows = list(csv.reader(["a;b,c"], "ours"))
