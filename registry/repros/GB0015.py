"""A sparse matrix, here the edges of a graph, is used in the compiled
function. Dynamo can't describe sparse layouts, so the matrix can't enter a
graph."""
import torch

LIMITS = {
    "fixed_dense": {
        "nan": "The sparse product skips zeros. Here zero times NaN is NaN.",
        "inf": "The sparse product skips zeros. Here zero times infinity is NaN.",
    }
}
EDGES = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
WEIGHTS = torch.tensor([1.0, 0.5, 2.0, 1.5])
SPARSE = torch.sparse_coo_tensor(EDGES, WEIGHTS, check_invariants=True)
DENSE = SPARSE.to_dense()


def inputs():
    return (torch.randn(4, 2),)


def broken(x):
    return torch.relu(SPARSE @ x)


def fixed(x):
    """Use this when the matrix is large. Keep its indices and values in
    ordinary tensors, and add up what each entry contributes."""
    to, origin = EDGES
    rows = WEIGHTS[:, None] * x[origin]
    return torch.relu(torch.zeros_like(x).index_add(0, to, rows))


def fixed_dense(x):
    """Use this when the matrix is small. Convert it to a dense matrix once,
    outside the compiled function."""
    return torch.relu(DENSE @ x)
