"""YAML with line numbers. All problems of a file are told at once, each with its line and a suggestion. No torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from registry.errors import InvalidInput, Problem
from repro_runner.output.suggestions import did_you_mean
from repro_runner.output.units import A_SIZE, a_number, parse_number, parse_size

_KINDS = {"int": "a number", "float": "a number", "bool": "true or false", "null": "nothing", "timestamp": "a date"}


class MarkedYaml:
    """One file while it is read. A malformed value is noted as a problem, and read as None or left out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._problems: list[tuple[int, str]] = []

    def root(self) -> yaml.Node | None:
        """The whole document, None if the file is empty; InvalidInput if it can't be read, or is not YAML."""
        try:
            root: yaml.Node | None = yaml.compose(self.path.read_text("utf-8"), yaml.SafeLoader)
        except OSError as error:
            raise InvalidInput([Problem(str(self.path), f"{error.strerror}; name a capability file")]) from error
        except UnicodeDecodeError as error:
            raise InvalidInput([Problem(str(self.path), "not UTF-8; save the file as UTF-8")]) from error
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise InvalidInput([Problem(f"{self.path}:{line}", f"not YAML: {error.problem}")]) from error
        except yaml.YAMLError as error:
            raise InvalidInput([Problem(f"{self.path}:1", f"not YAML: {str(error).splitlines()[0]}")]) from error
        return root

    def complain(self, node: yaml.Node, message: str) -> None:
        self._problems.append((node.start_mark.line + 1, message))

    def raise_problems(self) -> None:
        """InvalidInput with everything that was noted, from the top of the file."""
        if self._problems:
            raise InvalidInput([Problem(f"{self.path}:{line}", text) for line, text in sorted(self._problems)])

    def mapping(self, node: yaml.Node, keys: Sequence[str]) -> dict[str, yaml.Node]:
        """Key -> value, for the known keys. Unknown and repeated keys are noted as problems."""
        if not isinstance(node, yaml.MappingNode):
            self.complain(node, f"{_shown(node)} stands where keys must: {', '.join(keys)}")
            return {}
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else _shown(key)
            if name not in keys:
                meant = did_you_mean(name, keys, most=2) or f"; there are {', '.join(keys)}"
                self.complain(key, f"{name}: no such key{meant}")
            elif name in found:
                self.complain(key, f"{name}: is given twice")
            else:
                found[name] = value
        return found

    def entries(self, node: yaml.Node, key: str) -> list[yaml.Node]:
        """The members of a list; a lone value is a list of one."""
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        if isinstance(node, yaml.ScalarNode) and _kind(node) != "null":
            return [node]
        self.complain(node, f"{key}: must be a list, and is {_shown(node)}")
        return []

    def names(self, node: yaml.Node, key: str, problem: Callable[[str], str]) -> tuple[str, ...]:
        """A list of names. `problem(name)` returns what is wrong with a name, or an empty text."""
        found = []
        for entry in self.entries(node, key):
            if (name := self.text(entry, key)) is None:
                continue
            if wrong := problem(name):
                self.complain(entry, f"{key}: {wrong}")
            else:
                found.append(name)
        return tuple(found)

    def numbers(self, node: yaml.Node, key: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        return tuple(number for entry in self.entries(node, key) if (number := self.number(entry, key)) is not None)

    def text(self, node: yaml.Node, key: str) -> str | None:
        if isinstance(node, yaml.ScalarNode) and _kind(node) == "str" and node.value.strip():
            return str(node.value).strip()
        self.complain(node, f"{key}: must be a name, and is {_shown(node)}")
        return None

    def number(self, node: yaml.Node, key: str, *, at_least: int | None = None) -> int | None:
        number = parse_number(node.value, at_least) if isinstance(node, yaml.ScalarNode) else None
        if number is None:
            self.complain(node, f"{key}: must be {a_number(at_least)}, and is {_shown(node)}")
        return number

    def flag(self, node: yaml.Node, key: str) -> bool | None:
        if isinstance(node, yaml.ScalarNode) and _kind(node) == "bool":
            return node.value.lower() in ("true", "yes", "on")
        self.complain(node, f"{key}: must be true or false, and is {_shown(node)}")
        return None

    def choice(self, node: yaml.Node, key: str, choices: Sequence[str]) -> str | None:
        if isinstance(node, yaml.ScalarNode) and node.value in choices:
            return str(node.value)
        self.complain(node, f"{key}: must be {' or '.join(choices)}, and is {_shown(node)}")
        return None

    def size(self, node: yaml.Node, key: str) -> int | None:
        """Bytes: 4096, 512 MiB, 16 GB, 1.5 GiB."""
        size = parse_size(node.value) if isinstance(node, yaml.ScalarNode) else None
        if size is None:
            self.complain(node, f"{key}: must be {A_SIZE}, and is {_shown(node)}")
        return size


def check_keys(path: Path, example: Path) -> None:
    """InvalidInput about keys that the example lacks, or about a file that is not YAML.

    That takes no time, where the values of the keys can be judged only once torch is imported.
    """
    known = yaml.safe_load(example.read_text("utf-8"))
    of_rules = list(dict.fromkeys(key for rule in known["rules"] for key in rule))
    file = MarkedYaml(path)
    root = file.root()
    keys = {} if root is None else file.mapping(root, list(known))
    for rule in file.entries(keys["rules"], "rules") if "rules" in keys else ():
        file.mapping(rule, of_rules)
    file.raise_problems()


def _kind(node: yaml.Node) -> str:
    return str(node.tag).rpartition(":")[2]


def _shown(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        return "a list" if isinstance(node, yaml.SequenceNode) else "a group of keys"
    kind = _KINDS.get(_kind(node))
    return f"{node.value!r} ({kind})" if kind and node.value else kind or repr(node.value)
