"""A cell makes a folder, which is there when it runs again.

run: setup make make
ask: make
probe: done
changed: yes
expect: file results
says: already exists
"""
# %% setup
from pathlib import Path
done = []
# %% make
done = ["begun"]
Path("results").mkdir()
done.append("made")
