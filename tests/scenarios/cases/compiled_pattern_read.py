"""The cell uses a compiled pattern and a lock, which hold nothing that changes; a source moved.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: rng python 2
"""
# %% setup
import random, re, threading
random.seed(0)
pattern, lock = re.compile("a"), threading.Lock()
# %% draw
with lock:
    out = random.choice([pattern.sub("b", "banana"), "c", "d", "e", "f"]) + str(random.random())
