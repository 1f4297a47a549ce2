"""What can be measured: three models of known shapes, each whole and shrunk, under four backends. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BACKENDS = {
    "eager": "no torch.compile at all",
    "inductor": "torch's own compiler, the default of torch.compile",
    "mock": "the mock accelerator: limits checked, then run op by op",
    "aot": "the mock accelerator that lowers through AOTAutograd to Inductor's kernels",
}

SIZES = ("full", "tiny")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One size of a model. Its weights are random: only the shapes count."""

    parameters: int
    settings: Mapping[str, int]
    """What the model is built from, by the names that its own configuration has for it."""
    batch: Mapping[str, int]
    """Device -> samples per call: as many as keep a GPU busy are too many for a CPU."""
    sample: tuple[int, ...]
    """The shape of one sample."""
    sample_is: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A model of the benchmark."""

    name: str
    title: str
    sizes: Mapping[str, Shape]
    padded: str = ""
    """What padding adds to a sample: `tokens`, which a mask leaves out, or `pixels`; empty if it knows no padding."""
    module: str = ""
    """The module of transformers that it is made of, which takes seconds to import; empty: it needs torch alone."""


BERT = ModelEntry(
    name="bert",
    title="BERT-base-multilingual",
    padded="tokens",
    module="transformers.models.bert.modeling_bert",
    sizes={
        "full": Shape(
            parameters=177_853_440,
            settings={"vocab_size": 119_547},
            batch={"cpu": 1, "cuda": 16},
            sample=(128,),
            sample_is="128 tokens",
        ),
        "tiny": Shape(
            parameters=14_560,
            settings={
                "vocab_size": 99,
                "hidden_size": 16,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "intermediate_size": 32,
            },
            batch={"cpu": 2, "cuda": 2},
            sample=(12,),
            sample_is="12 tokens",
        ),
    },
)

RESNET = ModelEntry(
    name="resnet",
    title="ResNet-18",
    padded="pixels",
    module="transformers.models.resnet.modeling_resnet",
    sizes={
        "full": Shape(
            parameters=11_689_512,
            settings={"width": 64, "depth": 2, "num_labels": 1000},
            batch={"cpu": 1, "cuda": 64},
            sample=(3, 224, 224),
            sample_is="an image of 224 × 224",
        ),
        "tiny": Shape(
            parameters=20_382,
            settings={"width": 4, "depth": 1, "num_labels": 10},
            batch={"cpu": 2, "cuda": 2},
            sample=(3, 32, 32),
            sample_is="an image of 32 × 32",
        ),
    },
)

SSM = ModelEntry(
    name="ssm",
    title="Mamba-style state-space model",
    sizes={
        "full": Shape(
            parameters=26_594_560,
            settings={"vocabulary": 256, "width": 512, "layers": 16, "state": 64, "heads": 16},
            batch={"cpu": 1, "cuda": 16},
            sample=(128,),
            sample_is="128 bytes",
        ),
        "tiny": Shape(
            parameters=4_172,
            settings={"vocabulary": 16, "width": 16, "layers": 2, "state": 4, "heads": 2},
            batch={"cpu": 2, "cuda": 2},
            sample=(12,),
            sample_is="12 bytes",
        ),
    },
)

MODELS = {model.name: model for model in (BERT, RESNET, SSM)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What one process measures: a model under a backend, or the block with breaks where `model` is empty."""

    model: str = ""
    """A name in the catalogue, or MODEL.py:make_model."""
    backend: str = ""
    size: str = "full"
    device: str = "cpu"
    warmup: int = 3
    runs: int = 20
    gradients: bool = False
    """A call is a forward and a backward."""
    decompositions: str = ""
    """The table by which a backend of the user's own gets ops of aten; empty: it gets Dynamo's graphs."""
    only_compile: bool = False
    """Time the first call and nothing else: the second process of a row, which finds the cache filled."""
