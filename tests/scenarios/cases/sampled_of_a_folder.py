"""A cell seeds, then takes a sample of the files of a folder, to which one was added.

run: setup use add use
ask: use
probe: chosen
changed: yes
expect: file images 3
innocent: rng python
"""
# %% setup
import os, random
os.makedirs("images")
for name in "abcdef":
    open(f"images/{name}.png", "w").write(name)
# %% use
random.seed(0)
chosen = random.sample(sorted(os.listdir("images")), 3)
# %% add
open("images/aa.png", "w").write("aa")
random.random();
