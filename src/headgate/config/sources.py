"""The places where options are set: a file, the environment, flags. Each becomes one section."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headgate.config.flatten import flatten
from headgate.config.origins import Findings, Leaf, Origin, Section
from headgate.config.trees import ParseError, Table, Tree, parse_toml

ENVIRONMENT = "environment"
COMMAND_LINE = "command line"
VARIABLE_PREFIX = "HEADGATE_"


def _parse_yaml(text: str) -> Tree:
    from headgate.config.yaml_trees import parse_yaml  # noqa: PLC0415 - an attached agent reads no files

    return parse_yaml(text)


_PARSERS = {".yaml": _parse_yaml, ".yml": _parse_yaml, ".toml": parse_toml}


def read_file(path: Path, findings: Findings) -> Section:
    """Read a YAML or TOML file by its ending; what is wrong with it goes into `findings`."""
    origin = Origin(source=str(path))
    parse = _PARSERS.get(path.suffix.lower())
    if parse is None:
        findings.fault(origin, f"found the ending {path.suffix!r}, expected one of {', '.join(_PARSERS)}")
        return _unread(origin)
    try:
        tree = parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = "Hint: --config names another, `headgate init` writes one"
        findings.fault(origin, f"cannot be read: {error.strerror}. {hint}")
    except UnicodeDecodeError:
        findings.fault(origin, "cannot be read: not UTF-8")
    except ParseError as fault:
        findings.fault(Origin(source=str(path), line=fault.line), str(fault))
    else:
        if isinstance(tree, Table):
            return flatten(tree, origin, findings)
        findings.fault(origin, "found no keys on the top level, expected options as `key: value`")
    return _unread(origin)


def read_environment(environ: Mapping[str, str]) -> Section:
    """
    Take the variables `HEADGATE_*`: two underscores are the dot of a key, one is its hyphen.

    `HEADGATE_JOB__AUTOSCALER__VERTEX__MIN_PARALLELISM` sets `job.autoscaler.vertex.min-parallelism`.
    """
    settings = {
        _key_of(name): Leaf(text=text, origin=Origin(source=f"{ENVIRONMENT} {name}", key=_key_of(name)))
        for name, text in sorted(environ.items())
        if name.startswith(VARIABLE_PREFIX)
    }
    return Section(settings=settings, origin=Origin(source=ENVIRONMENT))


def read_flags(flags: Mapping[str, str]) -> Section:
    """Take options given on the command line by their dotted keys."""
    settings = {key: Leaf(text=text, origin=Origin(source=COMMAND_LINE, key=key)) for key, text in flags.items()}
    return Section(settings=settings, origin=Origin(source=COMMAND_LINE))


def _unread(origin: Origin) -> Section:
    return Section(settings={}, origin=origin, is_complete=False)


def _key_of(variable: str) -> str:
    return variable.removeprefix(VARIABLE_PREFIX).lower().replace("__", ".").replace("_", "-")
