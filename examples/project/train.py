"""Train for a few steps: what CI runs to find graph breaks."""

import torch
from small.model import Net, loss_of

torch.manual_seed(0)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
compiled = torch.compile(model, backend="aot_eager")
for _ in range(3):
    loss = loss_of(compiled, torch.randn(4, 8))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
