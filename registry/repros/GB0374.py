"""The compiled function builds a sparse matrix. Dynamo doesn't trace the
functions that make sparse tensors in a compressed format, such as CSR."""
import torch

LIMITS = {
    "fixed_dense": {
        "nan": "The sparse product skips zeros. Here zero times NaN is NaN.",
        "inf": "The sparse product skips zeros. Here zero times infinity is NaN.",
    }
}


def inputs():
    starts = torch.tensor([0, 2, 2, 3])
    columns = torch.tensor([1, 2, 0])
    return starts, columns, torch.randn(3), torch.randn(3)


def broken(starts, columns, values, x):
    matrix = torch.sparse_csr_tensor(starts, columns, values, (3, 3))
    return matrix @ x


def fixed(starts, columns, values, x):
    """Use this when the matrix is large. Multiply the stored values, and add
    them up by row."""
    rows = torch.repeat_interleave(starts.diff(), output_size=len(values))
    return x.new_zeros(3).index_add(0, rows, values * x[columns])


def fixed_dense(starts, columns, values, x):
    """Use this when the matrix is small. Build it as a dense matrix."""
    rows = torch.repeat_interleave(starts.diff(), output_size=len(values))
    matrix = x.new_zeros(3, 3)
    matrix[rows, columns] = values
    return matrix @ x
