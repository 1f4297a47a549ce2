"""A list contains itself, here as a link from the root of a tree to its
parent. Dynamo makes its own copy of a list, item by item, and refuses one
that is its own item."""
import torch

REQUIRES = {"release": "<2.11"}

root = [torch.ones(8)]
root.append(root)


class Node:
    def __init__(self, weight):
        self.weight = weight
        self.parent = self


NODE = Node(torch.ones(8))


def inputs():
    return (torch.randn(8),)


def broken(x):
    weight, parent = root
    return x * weight + parent[0]


def fixed(x):
    """Use this when an item must be its own parent. Make it an object with
    attributes: Dynamo reads only the attributes that you use."""
    return x * NODE.weight + NODE.parent.weight
