"""Read one of our own YAML files."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from registry.datafile import read_data_file, shown
from registry.errors import InvalidInput, Problem

# The C loader reads 600 ids ten times faster than the Python one, and is not in every build.
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _EachKeyOnce(_Loader):  # type: ignore[misc,valid-type]
    """YAML itself takes the last of two equal keys, and what stands under the first is lost."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys: set[str] = set()
        for key, _ in node.value:
            if key.value in keys:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {key.value!r} is there twice; put what they have under one",
                    problem_mark=key.start_mark,
                )
            keys.add(key.value)
        content: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return content


def read_yaml(path: Path) -> Any:
    """The content of a file; InvalidInput if it can't be read."""
    text = read_data_file(path)
    try:
        return yaml.load(text, _EachKeyOnce)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise InvalidInput(
            [Problem(f"{shown(path)}:{line}", f"not YAML: {getattr(error, 'problem', error)}")]
        ) from error
