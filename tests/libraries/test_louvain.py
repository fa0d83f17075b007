"""Nodes that come from a set of strings are in another order in each kernel."""

GRAPH = """
import networkx as nx
from community import best_partition
graph = nx.Graph()
graph.add_nodes_from({f"node{n}" for n in range(40)})
graph.add_edges_from((f"node{n}", f"node{(7 * n + 3) % 40}") for n in range(40))
"""

ASKED = "parts = best_partition(graph, random_state=0)\nlist(parts)[:9]"


def test_the_order_of_hashes_is_the_root(notebook):
    """With the cell that built the graph, and the variable that settles it."""
    book = notebook("community")
    for restart in (False, True):
        if restart:
            book.kernel.restart()
            book.kernel.run("%load_ext ipytorchseed")
        book.run(GRAPH, "graph")
        book.run(ASKED, "asked")
    (root, *_) = book.why()["roots"]
    assert (root["kind"], root["name"]) == ("environment", "PYTHONHASHSEED")
    assert root["path"] == ["graph"]
