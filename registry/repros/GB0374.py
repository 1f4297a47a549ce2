"""The compiled function builds a sparse matrix. Dynamo's graphs can't hold sparse tensors."""
import torch


def inputs():
    return torch.randn(3), torch.randn(3)


def broken(values, x):
    rows = torch.tensor([0, 1, 2, 3])  # one value per row
    columns = torch.tensor([1, 2, 0])
    matrix = torch.sparse_csr_tensor(rows, columns, values, (3, 3))
    return matrix @ x


def fixed(values, x):
    """Work on the stored values: gather, multiply, add up by row."""
    rows = torch.tensor([0, 1, 2])
    columns = torch.tensor([1, 2, 0])
    return torch.zeros(3).index_add(0, rows, values * x[columns])
