"""Pictures of errors, as PNG: a heat map, a histogram and a scatter plot of a tensor, and one bar per tensor for all.

Drawn with matplotlib, without a display and without a trace in its global state; the same tensors give the same bytes.
Transparent, in colours that colour-blind readers can distinguish, to be read on light and on dark ground.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from repro_runner.diff.comparison import LeafComparison
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.measures import Limits, Piece, compare_piece
from repro_runner.diff.tensors import TensorComparison, comparable

_WITHIN, _BEYOND, _INK = "#3a8fd0", "#e0662a", "#808080"
_MARGINS = {"left": 0.05, "right": 0.985, "bottom": 0.22, "top": 0.84, "wspace": 0.26}
_MOST_TENSORS, _MOST_BARS, _MOST_POINTS, _MOST_SAMPLES, _MOST_CELLS = 12, 30, 2000, 2**18, 128


def draw_pictures(
    leaves: Sequence[LeafComparison],
    reference: Mapping[str, Any],
    test: Mapping[str, Any],
    config: ComparisonConfig,
) -> dict[str, bytes]:
    """By file name: `summary.png`, and the tensors that differ most; if none differs, the outputs."""
    measured = [leaf for leaf in leaves if leaf.comparison is not None and leaf.comparison.elements]
    wanted = [leaf for leaf in measured if not leaf.passed] or [leaf for leaf in measured if leaf.part == "output"]
    pictures = {"summary.png": _draw_summary(measured)} if measured else {}
    for leaf in sorted(wanted, key=_error, reverse=True)[:_MOST_TENSORS]:
        pair = reference[leaf.name], test[leaf.name]
        if leaf.comparison is not None and all(isinstance(each, Tensor) for each in pair):
            pictures[_file_name(leaf.name, pictures)] = _draw_tensor(leaf.name, leaf.comparison, *pair, config)
    return pictures


def _error(leaf: LeafComparison) -> float:
    return 0.0 if leaf.comparison is None else leaf.comparison.max_absolute_error


def _file_name(name: str, taken: Mapping[str, bytes]) -> str:
    stem = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")[:80]
    number = 1
    while (found := f"{stem}{f'-{number}' if number > 1 else ''}.png") in taken:
        number += 1
    return found


def _draw_tensor(
    name: str, comparison: TensorComparison, reference: Tensor, test: Tensor, config: ComparisonConfig
) -> bytes:
    one, other = comparable(reference.detach().cpu(), test.detach().cpu())
    limits = Limits(rtol=comparison.rtol, atol=comparison.atol, max_ulp=config.max_ulp, equal_nan=config.equal_nan)
    step = -(-one.numel() // _MOST_SAMPLES)
    sample = compare_piece(one.reshape(-1)[::step], other.reshape(-1)[::step], limits)
    figure = Figure(figsize=(13.5, 4.2))
    heat, histogram, scatter = figure.subplots(1, 3, gridspec_kw=_MARGINS)
    _draw_heat_map(figure, heat, one, other, limits)
    _draw_histogram(histogram, sample)
    _draw_scatter(scatter, sample)
    verdict = "within tolerance" if comparison.passed else f"{comparison.mismatch_percentage:.3g} % beyond tolerance"
    every = f", every {step}th element on the right" if step > 1 else ""
    figure.suptitle(y=0.97, color=_INK, t=f"{name}  ·  {comparison.dtype}{list(comparison.shape)}  ·  {verdict}{every}")
    return _png(figure)


def _draw_heat_map(figure: Figure, axes: Axes, reference: Tensor, test: Tensor, limits: Limits) -> None:
    errors, (rows, columns) = _pooled_errors(reference, test, limits)
    finite = errors[errors.isfinite() & (errors > 0)]
    _title(
        axes, "|test − reference|; grey where equal", _column_label(reference, columns), _row_label(reference, columns)
    )
    extent = (-0.5, columns - 0.5, rows - 0.5, -0.5)
    axes.set_facecolor("#80808040")  # what is exactly equal
    if len(finite):
        least, most = float(finite.min()), float(finite.max())
        norm = LogNorm(least, most if most > least else least * 10)
        shown = torch.where(errors > 0, errors, math.nan).where(errors.isfinite(), torch.tensor(math.nan))
        image = axes.imshow(
            shown.numpy(), norm=norm, cmap="viridis", extent=extent, aspect="auto", interpolation="none"
        )
        bar = figure.colorbar(image, ax=axes)
        bar.set_label("absolute error", color=_INK)
        _recolour(bar.ax)
    else:
        axes.set(xlim=extent[:2], ylim=extent[2:])
    _mark_infinite(axes, errors, extent)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator("auto", integer=True))  # "-0.25" would push the title of the axis out


def _mark_infinite(axes: Axes, errors: Tensor, extent: tuple[float, float, float, float]) -> None:
    """Mark the elements that are NaN or infinite on one side only."""
    at_rows, at_columns = torch.nonzero(errors.isinf(), as_tuple=True)
    if not len(at_rows):
        return
    width, height = (extent[1] + 0.5) / errors.shape[1], (extent[2] + 0.5) / errors.shape[0]
    x, y = (at_columns + 0.5) * width - 0.5, (at_rows + 0.5) * height - 0.5
    axes.scatter(x.tolist(), y.tolist(), marker="x", s=18, color=_BEYOND, label="NaN or inf on one side")
    _legend(axes)


def _pooled_errors(reference: Tensor, test: Tensor, limits: Limits) -> tuple[Tensor, tuple[int, int]]:
    """The largest error of each of at most 128 by 128 cells, and how many rows and columns they stand for."""
    one, other = _as_matrix(reference), _as_matrix(test)
    rows, columns = one.shape
    high, wide = min(rows, _MOST_CELLS), min(columns, _MOST_CELLS)
    pooled = []
    for cell in range(high):
        band = slice(cell * rows // high, (cell + 1) * rows // high)
        errors = compare_piece(one[band].reshape(-1), other[band].reshape(-1), limits).error.reshape(-1, columns)
        # An infinite error stays one, and is the largest of its cell.
        pooled.append(torch.nn.functional.adaptive_max_pool1d(errors.amax(0, keepdim=True), wide)[0])
    return torch.stack(pooled), (rows, columns)


def _as_matrix(tensor: Tensor) -> Tensor:
    """The last dimension across, all others down; a vector is wrapped, its end filled up with its last element."""
    if tensor.dim() > 1:
        return tensor.reshape(-1, tensor.shape[-1])
    across = math.ceil(math.sqrt(tensor.numel()))
    missing = -tensor.numel() % across
    vector = tensor.reshape(-1)
    return (
        torch.cat([vector, vector[-1:].expand(missing)]).reshape(-1, across) if missing else vector.reshape(-1, across)
    )


def _column_label(tensor: Tensor, columns: int) -> str:
    return f"dimension {tensor.dim() - 1}" if tensor.dim() > 1 else f"element modulo {columns}"


def _row_label(tensor: Tensor, columns: int) -> str:
    if tensor.dim() <= 1:
        return f"element // {columns}"
    return "dimension 0" if tensor.dim() == 2 else f"dimensions 0 to {tensor.dim() - 2}, flattened"


def _draw_histogram(axes: Axes, sample: Piece) -> None:
    measurable = sample.error.isfinite() & (sample.error > 0)
    equal, infinite = int((sample.error == 0).sum()), int(sample.error.isinf().sum())
    text = [f"{equal} of {len(sample.error)} exactly equal", *([f"{infinite} NaN or inf"] if infinite else [])]
    _title(axes, ", ".join(text), "log10 of the absolute error", "elements")
    if not bool(measurable.any()):
        axes.text(0.5, 0.5, "no finite error", ha="center", va="center", transform=axes.transAxes, color=_INK)
        return
    parts = ((sample.close, _WITHIN, "within tolerance"), (~sample.close, _BEYOND, "beyond"))
    groups = [(sample.error[measurable & each].log10().tolist(), *drawn) for each, *drawn in parts]
    errors, colours, labels = zip(*(group for group in groups if group[0]), strict=True)
    axes.hist(errors, bins=40, stacked=True, color=colours, label=labels)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(axes)


def _draw_scatter(axes: Axes, sample: Piece) -> None:
    _title(axes, "test against reference", "reference", "test")
    order = torch.cat([torch.nonzero(sample.close)[:, 0], torch.nonzero(~sample.close)[:, 0]])  # mismatches on top
    step = -(-len(order) // _MOST_POINTS)
    chosen = order.flip(0)[::step].flip(0)
    one = sample.reference_parts.reshape(len(sample.close), -1)[chosen]
    other = sample.test_parts.reshape(len(sample.close), -1)[chosen]
    colours = [_WITHIN if close else _BEYOND for close in sample.close[chosen].tolist() for _ in range(one.shape[1])]
    ends = [float(one.min()), float(one.max())]
    axes.plot(ends, ends, color=_INK, linewidth=1, zorder=0)
    axes.scatter(one.flatten().tolist(), other.flatten().tolist(), s=9, c=colours, alpha=0.7, linewidths=0)


def _draw_summary(leaves: Sequence[LeafComparison]) -> bytes:
    """The largest errors at the top."""
    shown = sorted(leaves, key=lambda leaf: (leaf.passed, -_error(leaf)))[:_MOST_BARS]
    height = 1.6 + 0.3 * len(shown)
    left = 0.02 + 0.0075 * max(len(_shortened(leaf.name)) for leaf in shown)
    figure = Figure(figsize=(10, height))
    axes = figure.subplots(gridspec_kw={"left": left, "right": 0.98, "bottom": 0.75 / height, "top": 1 - 0.4 / height})
    finite = [_error(leaf) for leaf in shown if 0 < _error(leaf) < math.inf]
    least, most = (min(finite) / 10, max(finite) * 10) if finite else (1e-9, 1.0)
    lengths = [min(max(_error(leaf), least), most) for leaf in shown]
    colours = [_WITHIN if leaf.passed else _BEYOND for leaf in shown]
    places = range(len(shown))
    hatches = ["////" if math.isinf(_error(leaf)) else "" for leaf in shown]
    axes.barh(places, lengths, color=colours, height=0.7, hatch=hatches)
    axes.set(
        xscale="log", xlim=(least, most * 30), yticks=places, yticklabels=[_shortened(leaf.name) for leaf in shown]
    )
    axes.invert_yaxis()
    for place, (leaf, length) in enumerate(zip(shown, lengths, strict=True)):
        axes.text(length * 1.2, place, _bar_label(leaf), va="center", fontsize=8, color=_INK)
    left_out = f" ({len(shown)} of {len(leaves)}, the worst first)" if len(shown) < len(leaves) else ""
    _title(axes, f"Largest absolute error of each tensor{left_out}", "absolute error", "")
    return _png(figure)


def _bar_label(leaf: LeafComparison) -> str:
    text = "equal" if not _error(leaf) else f"{_error(leaf):.2g}"
    return (
        text
        if leaf.passed or leaf.comparison is None
        else f"{text}, {leaf.comparison.mismatch_percentage:.3g} % beyond"
    )


def _shortened(name: str) -> str:
    return name if len(name) <= 48 else f"{name[:22]}…{name[-25:]}"


def _title(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_title(title, color=_INK, fontsize=10)
    axes.set_xlabel(x, color=_INK)
    axes.set_ylabel(y, color=_INK)
    _recolour(axes)
    axes.set_facecolor("none")


def _legend(axes: Axes) -> None:
    """A legend below the picture, where it hides nothing."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncol=2, frameon=False, fontsize=9, labelcolor=_INK)


def _recolour(axes: Axes) -> None:
    axes.tick_params(which="both", color=_INK, labelcolor=_INK)
    for spine in axes.spines.values():
        spine.set_color(_INK)


def _png(figure: Figure) -> bytes:
    figure.patch.set_alpha(0.0)
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    return buffer.getvalue()
