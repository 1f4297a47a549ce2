"""A tiny LED (Longformer encoder-decoder) with random weights, asked once.

TORCH_LOGS=graph_breaks python longer.py
"""

from __future__ import annotations

import torch
from transformers import LEDConfig, LEDModel

if __name__ == "__main__":
    torch.manual_seed(0)
    config = LEDConfig(
        vocab_size=32,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        attention_window=4,
        max_encoder_position_embeddings=32,
        max_decoder_position_embeddings=32,
    )
    model = LEDModel(config).eval()  # type: ignore[no-untyped-call]
    ids = torch.randint(4, 32, (1, 10))
    with torch.no_grad():
        torch.compile(model, backend="eager")(ids, decoder_input_ids=ids)  # type: ignore[no-untyped-call]
