"""The name of a temporary file differs each time.

run: setup q q
ask: q
probe: out
changed: yes
expect: entropy tempfile.NamedTemporaryFile
"""
# %% setup
import tempfile
# %% q
with tempfile.NamedTemporaryFile() as f:
    out = f.name
