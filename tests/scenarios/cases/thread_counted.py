"""A thread that another cell started changed a number.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input counter
"""
# %% setup
import threading, time
counter = 0
def work():
    global counter
    counter += 5
# %% q
out = counter * 2
# %% other
t = threading.Thread(target=work); t.start(); t.join()
