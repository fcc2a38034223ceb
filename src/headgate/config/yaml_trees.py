"""YAML as trees. Imported only where YAML is read: an attached agent has none, and need not have the library."""

from __future__ import annotations

import yaml

from headgate.config.trees import Listing, ParseError, Scalar, Table, Tree


def parse_yaml(text: str) -> Tree:
    """
    Read one YAML document; aliases are followed, tags are not.

    Raises:
        ParseError: it is not YAML, or an alias contains itself.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        return Table(()) if root is None else _from_node(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        what = f"not YAML: {error.problem}"
        raise ParseError(what, mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        what = f"not YAML: {str(error).splitlines()[0]}"
        raise ParseError(what) from error
    except RecursionError as error:
        what = "nested too deeply, or an alias contains itself"
        raise ParseError(what) from error


def _from_node(node: yaml.Node) -> Tree:
    line = node.start_mark.line + 1
    match node:
        case yaml.MappingNode():
            return Table(tuple((_key(key), _from_node(value)) for key, value in node.value), line)
        case yaml.SequenceNode():
            return Listing(tuple(_from_node(item) for item in node.value), line)
        case _:
            return Scalar(None if node.tag.endswith(":null") else node.value, line)


def _key(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    what = "a key must be a text"
    raise ParseError(what, node.start_mark.line + 1)
