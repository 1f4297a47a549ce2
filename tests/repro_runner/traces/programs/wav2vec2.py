"""A tiny Wav2Vec2 with random weights."""

from typing import Any

import torch
import transformers

if __name__ == "__main__":
    torch.manual_seed(0)
    config = transformers.Wav2Vec2Config(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, conv_dim=(16, 16),
        conv_stride=(5, 2), conv_kernel=(10, 3), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2,
    )  # fmt: skip
    model: Any = transformers.Wav2Vec2Model(config).eval()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        torch.compile(model, backend="eager")(torch.randn(1, 400))  # type: ignore[no-untyped-call]
