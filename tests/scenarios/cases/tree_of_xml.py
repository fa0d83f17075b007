"""An element was added to a tree of XML, which C code holds.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: input root 3
"""
# %% setup
import xml.etree.ElementTree as ET
root = ET.fromstring("<a><b/></a>")
# %% q
n = len(root)
# %% ins
_ = ET.SubElement(root, "c")
