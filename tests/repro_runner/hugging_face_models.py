"""Ten models of transformers that break the graph, from tiny configurations with random weights: nothing is downloaded.

`graphbreak explain -m tests.repro_runner.hugging_face_models led` runs one of them under torch.compile.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers

hf: Any = transformers  # parts of it have no types
CALLS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A model, and what it is called with."""

    model: torch.nn.Module
    inputs: dict[str, torch.Tensor]

    def call(self, model: Callable[..., Any]) -> None:
        """Call the model, or what torch.compile made of it."""
        with torch.no_grad():
            model(**self.inputs)


def _tokens(length: int) -> torch.Tensor:
    return torch.arange(3, 3 + length).unsqueeze(0)


def encodec() -> Example:
    config = hf.EncodecConfig(
        hidden_size=8,
        num_filters=2,
        num_residual_layers=1,
        upsampling_ratios=[2],
        num_lstm_layers=1,
        codebook_size=8,
        codebook_dim=8,
        sampling_rate=100,
        target_bandwidths=[0.2],
    )
    return Example(model=hf.EncodecModel(config), inputs={"input_values": torch.randn(1, 1, 64)})


def fastspeech2_conformer() -> Example:
    config = hf.FastSpeech2ConformerConfig(
        hidden_size=16,
        vocab_size=32,
        num_mel_bins=8,
        encoder_layers=1,
        encoder_num_attention_heads=2,
        encoder_linear_units=16,
        decoder_layers=1,
        decoder_num_attention_heads=2,
        decoder_linear_units=16,
        speech_decoder_postnet_layers=1,
        speech_decoder_postnet_units=16,
        duration_predictor_layers=1,
        duration_predictor_channels=16,
        energy_predictor_layers=1,
        energy_predictor_channels=16,
        pitch_predictor_layers=1,
        pitch_predictor_channels=16,
    )
    return Example(model=hf.FastSpeech2ConformerModel(config), inputs={"input_ids": _tokens(8)})


def funnel() -> Example:
    config = hf.FunnelConfig(
        vocab_size=32, d_model=16, n_head=2, d_head=8, d_inner=16, block_sizes=[1, 1], num_decoder_layers=1
    )
    return Example(model=hf.FunnelModel(config), inputs={"input_ids": _tokens(8)})


def led() -> Example:
    config = hf.LEDConfig(
        vocab_size=32,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        attention_window=4,
        max_encoder_position_embeddings=64,
        max_decoder_position_embeddings=64,
        use_cache=False,
    )
    return Example(model=hf.LEDModel(config), inputs={"input_ids": _tokens(8), "decoder_input_ids": _tokens(4)})


def longformer() -> Example:
    config = hf.LongformerConfig(
        vocab_size=32,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        attention_window=4,
        max_position_embeddings=64,
    )
    return Example(model=hf.LongformerModel(config), inputs={"input_ids": _tokens(8)})


def longt5() -> Example:
    config = hf.LongT5Config(
        vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, local_radius=4, use_cache=False
    )
    return Example(model=hf.LongT5Model(config), inputs={"input_ids": _tokens(8), "decoder_input_ids": _tokens(4)})


def reformer() -> Example:
    config = hf.ReformerConfig(
        vocab_size=32,
        hidden_size=16,
        num_attention_heads=2,
        attention_head_size=8,
        feed_forward_size=16,
        attn_layers=["local", "lsh"],
        axial_pos_embds=False,
        max_position_embeddings=64,
        local_attn_chunk_length=4,
        lsh_attn_chunk_length=4,
        num_hashes=1,
        num_buckets=2,
        is_decoder=False,
    )
    return Example(model=hf.ReformerModel(config), inputs={"input_ids": _tokens(8)})


def speecht5() -> Example:
    config = hf.SpeechT5Config(
        vocab_size=32,
        hidden_size=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        speech_decoder_prenet_layers=1,
        speech_decoder_prenet_units=16,
        speech_decoder_postnet_layers=1,
        speech_decoder_postnet_units=16,
        num_mel_bins=8,
        speaker_embedding_dim=8,
        encoder_max_relative_position=4,
        use_cache=False,
    )
    return Example(
        model=hf.SpeechT5ForTextToSpeech(config),
        inputs={
            "input_ids": _tokens(8),
            "decoder_input_values": torch.randn(1, 4, 8),
            "speaker_embeddings": torch.randn(1, 8),
        },
    )


def vits() -> Example:
    config = hf.VitsConfig(
        vocab_size=32,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        ffn_dim=16,
        flow_size=16,
        spectrogram_bins=9,
        prior_encoder_num_flows=1,
        prior_encoder_num_wavenet_layers=1,
        posterior_encoder_num_wavenet_layers=1,
        upsample_initial_channel=16,
        upsample_rates=[2],
        upsample_kernel_sizes=[4],
        resblock_kernel_sizes=[3],
        resblock_dilation_sizes=[[1]],
        duration_predictor_num_flows=1,
        duration_predictor_filter_channels=16,
        depth_separable_num_layers=1,
        wavenet_dilation_rate=1,
        noise_scale_duration=0.0,  # as many frames at every call
    )
    return Example(model=hf.VitsModel(config), inputs={"input_ids": _tokens(8)})


def wav2vec2() -> Example:
    config = hf.Wav2Vec2Config(
        vocab_size=8,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        conv_dim=(8, 8),
        conv_stride=(4, 2),
        conv_kernel=(8, 4),
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
    )
    return Example(model=hf.Wav2Vec2Model(config), inputs={"input_values": torch.randn(1, 400)})


MODELS: dict[str, Callable[[], Example]] = {
    "encodec": encodec,
    "fastspeech2-conformer": fastspeech2_conformer,
    "funnel": funnel,
    "led": led,
    "longformer": longformer,
    "longt5": longt5,
    "reformer": reformer,
    "speecht5": speecht5,
    "vits": vits,
    "wav2vec2": wav2vec2,
}


def build(name: str) -> Example:
    """The same weights and inputs every time; as it is used, not as it is trained."""
    torch.manual_seed(0)
    example = MODELS[name]()
    example.model.eval()
    return example


def run_compiled(example: Example) -> None:
    """Compile it with what adds nothing of its own, and call it."""
    compiled = torch.compile(example.model, backend="eager")
    for _ in range(CALLS):
        example.call(compiled)


def main(names: Sequence[str]) -> None:
    """Run each of these models."""
    for name in names:
        run_compiled(build(name))


if __name__ == "__main__":
    main(sys.argv[1:])
