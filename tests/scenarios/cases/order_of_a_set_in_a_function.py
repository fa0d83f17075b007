"""A function goes over a set of the objects that it is given: their order is that of addresses.

run: setup make order make order
ask: order
probe: shown
changed: yes
expect: entropy object.__hash__
"""
# %% setup
class Node:
    def __init__(self, name):
        self.name = name


def visit(nodes):
    names = []
    for node in {node for node in nodes}:
        names.append(node.name)
    return names


kept = []
# %% make
kept.append([object() for _ in range(3)])
kept.append([Node(i) for i in range(500)])
kept[-1][0], nodes = Node(0), kept[-1]
kept[0].clear()
# %% order
shown = visit(nodes)
shown
