"""The accuracy check is on, and a backend made for tests computes relu wrongly.
torch compares the compiled result with the eager one and stops."""

import tempfile

import torch


def relu(x):
    return torch.relu(x)


def checked(backend):
    with (
        tempfile.TemporaryDirectory() as folder,
        torch._dynamo.config.patch(debug_dir_root=folder, repro_after="dynamo", repro_level=4),
    ):
        return torch.compile(relu, backend=backend)(torch.ones(4))


def message():
    checked("relu_accuracy_error_TESTING_ONLY")


def fixed():
    """Use this when you know which backend is wrong: use another until it is fixed."""

    def other_backend(graph, inputs):
        return graph

    return checked(other_backend)


def eager():
    return relu(torch.ones(4))
