"""The model asks an object of a library that Dynamo doesn't trace: `networkx`
here; `pandas`, `sklearn`, `tqdm` and some others are on the same list."""
import networkx
import torch

TITLE = "networkx, pandas, tqdm"
REQUIRES = {"module": "networkx"}
GRAPH = networkx.cycle_graph(4)
NODES = GRAPH.number_of_nodes()


def inputs():
    return (torch.randn(4, 8),)


def broken(x):
    return x.sum(0) / GRAPH.number_of_nodes()


def fixed(x):
    """Use this when the data doesn't change. Read it once, before you compile.
    Put data that changes into a tensor, and pass that as an argument."""
    return x.sum(0) / NODES
