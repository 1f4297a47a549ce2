"""The compiled function calls `zero_grad` of an optimizer, which torch keeps out
of what Dynamo traces. With `fullgraph=True` that is an error, else a graph
break."""
import torch

X = torch.ones(3, 4)


def start():
    model = torch.nn.Linear(4, 2)
    torch.nn.init.ones_(model.weight)
    torch.nn.init.zeros_(model.bias)
    model(X).sum().backward()
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def gradients(model):
    return tuple(parameter.grad for parameter in model.parameters())


def message():
    model, optimizer = start()

    def loss():
        optimizer.zero_grad()
        return model(X).square().mean()

    torch.compile(loss, backend="eager", fullgraph=True)().backward()


def fixed():
    """Use this when you can call it elsewhere: clear the gradients before the
    compiled function."""
    model, optimizer = start()

    def loss():
        return model(X).square().mean()

    compiled = torch.compile(loss, backend="eager", fullgraph=True)
    optimizer.zero_grad()
    compiled().backward()
    return gradients(model)


def fixed_module():
    """Use this when it must stay inside, and the optimizer has all parameters
    of the module: call `zero_grad` of the module."""
    model, _ = start()

    def loss():
        model.zero_grad()
        return model(X).square().mean()

    torch.compile(loss, backend="eager", fullgraph=True)().backward()
    return gradients(model)


def fixed_loop():
    """Use this when it must stay inside, and the optimizer has other
    parameters: set each `grad` to None."""
    model, optimizer = start()

    def loss():
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = None
        return model(X).square().mean()

    torch.compile(loss, backend="eager", fullgraph=True)().backward()
    return gradients(model)


def eager():
    model, optimizer = start()
    optimizer.zero_grad()
    model(X).square().mean().backward()
    return gradients(model)
