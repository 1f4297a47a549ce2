"""A device described in YAML, with no Python. `example_device.yml` beside this file explains every key."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from repro_runner.adapters.capabilities import AcceleratorCapabilities, OpRule, field_of, known_settings
from repro_runner.constraints.base import Setting
from repro_runner.constraints.narrowing import read_narrowing
from repro_runner.constraints.operators import listed_op_problem
from repro_runner.marked_yaml import MarkedYaml


def read_capabilities(path: Path | str) -> AcceleratorCapabilities:
    """The device that a file describes; InvalidInput lists everything that is wrong with it, as `file:line: …`."""
    return _CapabilityFile(Path(path)).capabilities()


class _CapabilityFile(MarkedYaml):
    def capabilities(self) -> AcceleratorCapabilities:
        settings = _by_key(AcceleratorCapabilities, (setting for _, setting in known_settings()))
        options = {
            key: (setting, option) for setting in settings.values() for option, key in setting.option_keys().items()
        }
        root = self.root()
        keys = {} if root is None else self.mapping(root, ("name", *settings, *options, "rules"))
        values = self._values(keys, settings, options)
        name = self.text(keys["name"], "name") if "name" in keys else None
        rules = self._read_rules(keys["rules"]) if "rules" in keys else ()
        self.raise_problems()
        limits = _arguments(AcceleratorCapabilities, settings, values)
        return AcceleratorCapabilities(name=name or self.path.stem, rules=rules, **limits)

    def _read_rules(self, node: yaml.Node) -> tuple[OpRule, ...]:
        return tuple(rule for entry in self.entries(node, "rules") if (rule := self._read_rule(entry)) is not None)

    def _read_rule(self, node: yaml.Node) -> OpRule | None:
        settings = _by_key(OpRule, (setting for _, setting in known_settings(in_rules=True)))
        options = {option: (setting, option) for setting in settings.values() for option in setting.options}
        keys = self.mapping(node, ("ops", "arguments", *options, *settings))
        if keys and "ops" not in keys:
            self.complain(node, "a rule without ops; name some, or set the limit for the whole device")
        if keys and keys.keys().isdisjoint(settings):
            self.complain(node, f"a rule without a limit; give one or more of {', '.join(settings)}")
        values = self._values(keys, settings, options)
        ops = self.names(keys["ops"], "ops", listed_op_problem) if "ops" in keys else ()
        if not ops:
            return None
        arguments = self._op_arguments(keys["arguments"], ops) if "arguments" in keys else None
        return OpRule(ops=ops, arguments=arguments, **_arguments(OpRule, settings, values))

    def _values(
        self, keys: Mapping[str, yaml.Node], settings: Mapping[str, Setting], options: Mapping[str, tuple[Setting, str]]
    ) -> dict[str, Any]:
        """key -> value; what could not be read is left out, since its problem is noted. `options`: key -> the setting
        that it belongs to, and its name there."""
        readers = {key: setting.read for key, setting in settings.items()}
        for key, (setting, option) in options.items():
            readers[key] = setting.options[option]
            if key in keys and setting.key not in keys:
                self.complain(keys[key], f"{key}: belongs to {setting.key}; set that, too")
        read = {key: reader(self, keys[key], key) for key, reader in readers.items() if key in keys}
        return {key: value for key, value in read.items() if value is not None}

    def _op_arguments(self, node: yaml.Node, ops: tuple[str, ...]) -> tuple[str | int, ...]:
        found: list[str | int] = []
        for entry in self.entries(node, "arguments"):
            is_position = isinstance(entry, yaml.ScalarNode) and entry.value.isdecimal()
            reader = self.number if is_position else self.text
            if (argument := reader(entry, "arguments")) is None:
                continue
            try:
                read_narrowing(ops, [argument])
            except ValueError as error:
                self.complain(entry, str(error))
            found.append(argument)
        return tuple(found)


def _by_key(owner: type[OpRule | AcceleratorCapabilities], settings: Iterable[Setting]) -> dict[str, Setting]:
    """Key -> setting, in the order of the owner's fields; settings without a field are last."""
    names = [each.name for each in dataclasses.fields(owner)]
    ordered = sorted(settings, key=lambda each: names.index(field_of(owner, each) or "limits"))
    return {each.key: each for each in ordered}


def _arguments(
    owner: type[OpRule | AcceleratorCapabilities], settings: Mapping[str, Setting], values: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a dataclass, each value in its own field or in `limits`."""
    names = {each.name for each in dataclasses.fields(owner)}
    places = {key: field_of(owner, settings[key]) if key in settings else key for key in values}
    own = {str(place): values[key] for key, place in places.items() if place in names}
    return {**own, "limits": {key: value for key, value in values.items() if places[key] not in names}}
