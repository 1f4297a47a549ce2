"""The benchmark's models, built from their shapes with random weights; nothing is downloaded."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from repro_runner.bench.catalogue import MODELS, Shape
from repro_runner.bench.ssm import StateSpaceModel
from repro_runner.model_under_test import ModelUnderTest


def make_subject(name: str, size: str, device: str, *, seed: int = 0) -> ModelUnderTest:
    """A model of the catalogue in evaluation mode, and a batch for it."""
    shape = MODELS[name].sizes[size]
    torch.manual_seed(seed)
    with torch.device(device):
        model = make_model(name, size)
        inputs = _inputs(name, shape, shape.batch[device])
    return ModelUnderTest(name=name, model=model, args=inputs, seed=seed)


def make_model(name: str, size: str) -> nn.Module:
    """Without any inputs: also on the device `meta`, where it takes no memory."""
    return _MAKERS[name](MODELS[name].sizes[size].settings).eval()


def count_parameters(model: object) -> int:
    """Each once, also where two layers share it; a plain function has none."""
    return sum(each.numel() for each in model.parameters()) if isinstance(model, nn.Module) else 0


def _inputs(name: str, shape: Shape, batch: int) -> tuple[torch.Tensor, ...]:
    if name == "resnet":
        return (torch.randn(batch, *shape.sample),)
    vocabulary = shape.settings.get("vocab_size") or shape.settings["vocabulary"]
    return (torch.randint(vocabulary, (batch, *shape.sample)),)


def _bert(settings: Mapping[str, int]) -> nn.Module:
    transformers = _transformers()
    model: nn.Module = transformers.BertModel(transformers.BertConfig(**settings))
    return model


def _resnet(settings: Mapping[str, int]) -> nn.Module:
    transformers = _transformers()
    width, depth = settings["width"], settings["depth"]
    config = transformers.ResNetConfig(
        embedding_size=width,
        hidden_sizes=[width * scale for scale in (1, 2, 4, 8)],
        depths=[depth] * 4,
        layer_type="basic",
        num_labels=settings["num_labels"],
    )
    model: nn.Module = transformers.ResNetForImageClassification(config)
    return model


def _transformers() -> Any:
    """Imported when it is needed: the state-space model does without. Its annotations vary with its version."""
    return importlib.import_module("transformers")


def _ssm(settings: Mapping[str, int]) -> nn.Module:
    return StateSpaceModel(**settings)


_MAKERS: Mapping[str, Callable[[Mapping[str, int]], nn.Module]] = {"bert": _bert, "resnet": _resnet, "ssm": _ssm}
