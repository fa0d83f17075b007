"""The cell alters an object of C code that it also reads: it continues from its earlier run.

run: setup q q
ask: q
probe: out
changed: yes
expect: input root 2
says: this cell called `root.append()` and may continue from its earlier run
back: complete
"""
# %% setup
import xml.etree.ElementTree as ET
root = ET.fromstring("<a><b/></a>")
# %% q
out = len(root)
root.append(ET.Element("c"))
