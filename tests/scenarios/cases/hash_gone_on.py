"""A hash object goes on from where another cell left it.

run: setup digest update digest
ask: digest
probe: name
changed: yes
expect: input h 3
"""
# %% setup
import hashlib
h = hashlib.sha256()
h.update(b"config v1")
# %% digest
name = h.hexdigest()[:8]
print(name)
# %% update
h.update(b"lr=0.1")
