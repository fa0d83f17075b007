"""An object of C code was used by the cell alone: it is named as what cannot be seen into.

run: setup q q
ask: q
probe: out
changed: yes
expect: input root 2
says: only earlier runs of this cell used it
"""
# %% setup
import xml.etree.ElementTree as ET
root = ET.fromstring("<a><b/></a>")
# %% q
out = len(root)
root.append(ET.Element("c"))
