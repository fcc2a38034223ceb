"""What is installed, and what a name means."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest

from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.kinds import PORTS, Kind
from headgate.plugins.making import make
from headgate.plugins.registry import Registry, UnknownPluginError

Install = Callable[[str, dict[str, dict[str, str]], str], None]


def catalog(**tables: dict[str, str]) -> Catalog:
    """Give what may be named here, with these instances."""
    return Catalog(Registry(), Tables(**tables))


def test_what_is_built_in_is_registered_like_anything_else() -> None:
    """It is Headgate's own distribution that registers it."""
    found = Registry().find(Kind.SCALING_REALIZER, "resource-requirements")
    assert (found.distribution, found.is_ours) == ("headgate", True)
    assert {"BALANCED", "EVENLY_SPREAD", "OFF"} <= set(Registry().names(Kind.ALIGNMENT_MODE))


@pytest.mark.parametrize("name", Registry().names(Kind.ALIGNMENT_MODE))
def test_a_built_in_alignment_mode_is_made_as_any_plugin_is(name: str) -> None:
    """With parameters, of which it needs none."""
    assert make(Kind.ALIGNMENT_MODE, Registry().find(Kind.ALIGNMENT_MODE, name).target, {}).mode == name


def test_every_kind_has_a_port() -> None:
    """A group without one could not be checked."""
    assert PORTS.keys() == set(Kind)


def test_nothing_is_imported_to_know_what_there_is(installed: Install) -> None:
    """A module that cannot even be imported is known by name."""
    installed("broken", {"headgate.decision_plugins": {"never": "Never"}}, "raise SystemExit")
    assert Registry().find(Kind.DECISION_PLUGIN, "never").distribution == "broken"
    assert "broken" not in sys.modules


def test_a_name_that_nobody_has_is_told_with_those_that_are_there() -> None:
    """So that a slip is seen at once."""
    with pytest.raises(
        UnknownPluginError, match=r"no scaling realizer 'mine' is registered\. Hint: there is .*resource-"
    ):
        Registry().find(Kind.SCALING_REALIZER, "mine")


def test_two_claims_of_one_name_are_nobodys(installed: Install) -> None:
    """Both are named: which of them would be used must not depend on the order of a path."""
    installed("first-one", {"headgate.decision_plugins": {"cap": "Cap"}}, "")
    installed("second-one", {"headgate.decision_plugins": {"cap": "Cap"}}, "")
    with pytest.raises(UnknownPluginError, match="first-one and second-one both register the decision plugin 'cap'"):
        Registry().find(Kind.DECISION_PLUGIN, "cap")


def test_groups_of_others_do_not_count() -> None:
    """Every distribution has entry points of its own."""
    point = EntryPoint(name="x", value="a:b", group="console_scripts")
    assert all(Registry(lambda: [point]).names(kind) == () for kind in Kind)


def test_an_instance_has_parameters_and_hides_a_plugin_of_its_name() -> None:
    """What is beside its class is a parameter, dots included."""
    general = {"OFF.class": "BALANCED", "OFF.step.size": "2"}
    choice = catalog(general=general).find(Kind.ALIGNMENT_MODE, "OFF")
    assert (choice.plugin.name, choice.parameters) == ("BALANCED", {"step.size": "2"})


def test_each_kind_of_the_reference_has_its_own_table() -> None:
    """An executor is no alignment mode, whatever it is called; the general table is for all."""
    known = catalog(alignments={"mine.class": "OFF"}, executors={"his.class": "OFF"}, general={"ours.class": "OFF"})
    assert known.find(Kind.ALIGNMENT_MODE, "mine").plugin.name == "OFF"
    assert known.find(Kind.ALIGNMENT_MODE, "ours").plugin.name == "OFF"
    with pytest.raises(UnknownPluginError, match="no alignment mode 'his' is registered or declared"):
        known.find(Kind.ALIGNMENT_MODE, "his")


def test_an_instance_of_nothing_is_told() -> None:
    """One without a class, and one of a class that is not there."""
    told = dict(catalog(general={"a.step": "1", "b.class": "com.example.Mine"}).faults())
    assert told["a"] == "instance 'a' has no class. Hint: write a.class, the name of a registered plugin"
    assert told["b"].startswith("no plugin of any kind 'com.example.Mine' is registered")
