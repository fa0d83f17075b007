"""The cell reads all files of a folder, and there is one more.

run: write read write@2 read
ask: read
probe: text
changed: yes
expect: file c.txt
"""
# %% write
from pathlib import Path
for name in "ab":
    Path(f"{name}.txt").write_text(name)
# %% write@2
Path("c.txt").write_text("c");
# %% read
text = "".join(path.read_text() for path in sorted(Path(".").glob("*.txt")))
