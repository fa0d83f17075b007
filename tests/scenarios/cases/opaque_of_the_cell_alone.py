"""An object of C code was used by the cell alone: it is named as what cannot be inspected.

run: setup q q
ask: q
probe: out
changed: yes
verdict: unexplained
says: `root` cannot be inspected
"""
# %% setup
import xml.etree.ElementTree as ET
root = ET.fromstring("<a><b/></a>")
# %% q
out = len(root)
root.append(ET.Element("c"))
