"""An optimizer takes `params` out of its group before it calls `_init_group`.
At that call Dynamo looks for `params` in the group, and it isn't there."""
import torch


class Clip(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__([{"limit": 1.0, "params": params}], {})

    def _init_group(self, group):
        group.setdefault("limit", 1.0)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            params = group.pop("params")
            self._init_group(group)
            for param in params:
                param.clamp_(-group["limit"], group["limit"])
            group["params"] = params

    @torch.no_grad()
    def step_keep(self):
        for group in self.param_groups:
            self._init_group(group)
            for param in group["params"]:
                param.clamp_(-group["limit"], group["limit"])


weight = torch.nn.Parameter(torch.zeros(4))
clip = Clip([weight])


def inputs():
    weight.data.copy_(3 * torch.randn(4))
    return (torch.randn(4),)


def broken(x):
    clip.step()
    return x * weight.detach()


def fixed(x):
    """Use this when `step` only reads `params`. Leave them in the group, and
    read them there."""
    clip.step_keep()
    return x * weight.detach()
