"""The compiled function gives a parameter a new `.grad`, then calls the
optimizer. Dynamo runs the set-up of the optimizer, `_init_group`, while it
traces, but the new `.grad` is put in place only when the graph has run."""
import torch


# Most of torch's own optimizers, such as SGD, end the graph themselves before
# the set-up, and so never get here.
class SignSGD(torch.optim.Optimizer):
    def _init_group(self, group, params):
        params.extend(p for p in group["params"] if p.grad is not None)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            params = []
            self._init_group(group, params)
            for p in params:
                p.sub_(group["lr"] * p.grad.sign())


weight = torch.nn.Parameter(torch.ones(4))
weight.grad = torch.zeros(4)
optimizer = SignSGD([weight], {"lr": 0.1})


def inputs():
    return (torch.randn(4),)


def broken(grad):
    weight.grad = grad * 2
    optimizer.step()
    return weight.detach().clone()


def fixed(grad):
    """Use this when the parameter already has a `.grad` tensor. Write the new
    gradient into that tensor with `copy_`."""
    weight.grad.copy_(grad * 2)
    optimizer.step()
    return weight.detach().clone()
