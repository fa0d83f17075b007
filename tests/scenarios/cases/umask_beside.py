"""The rights of new files were set as well; the data were changed.

run: setup q ins q
ask: q
probe: out
changed: yes
expect: input data 3
innocent: flag os.umask
"""
# %% setup
import os
data = [1]
# %% q
out = sum(data) + len(os.path.join("a", "b"))
# %% ins
before = os.umask(0o077)
data.append(2)
