"""Options are declared once, and the declaration can be read."""

from __future__ import annotations

from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import declarations
from headgate.options.service import ClusterOptions, JobOptions, LogOptions, ServiceOptions


def test_a_declaration_tells_all_there_is_to_know() -> None:
    """Key, old names, default, and whether it must be set."""
    declared = {each.name: each for each in declarations(AutoscalerOptions)}
    target = declared["utilization_target"]
    assert (target.key, target.deprecated, target.default) == ("utilization.target", ("target.utilization",), 0.7)
    assert not target.required
    assert not target.secret


def test_groups_lists_of_groups_and_tables_are_told_apart() -> None:
    """What stands below a key depends on which of them it is."""
    service = {each.name: each for each in declarations(ServiceOptions)}
    cluster = {each.name: each for each in declarations(ClusterOptions)}
    assert service["log"].group is LogOptions
    assert service["jobs"].listed_group is JobOptions
    assert service["jobs"].group is None
    assert cluster["headers"].is_table
    assert not any((service["mode"].group, service["mode"].listed_group, service["mode"].is_table))


def test_what_may_hold_a_secret_is_declared_so() -> None:
    """Addresses, headers, the state store's URL and plugins' parameters are masked wherever options are shown."""
    addresses = {"clusters", "url", "headers", "state_store", "signal_sources", "kafka_clusters", "spark", "yarn"}
    secret = {each.name for group in (ServiceOptions, ClusterOptions) for each in declarations(group) if each.secret}
    assert secret == addresses | {
        "custom_evaluators",
        "custom_executors",
        "custom_alignments",
        "plugin_instances",
        "spark_settings",
    }


def test_no_key_is_declared_twice() -> None:
    """Neither as a key nor as another name for one."""
    for group in (AutoscalerOptions, ServiceOptions, ClusterOptions, JobOptions, LogOptions):
        names = [name for each in declarations(group) for name in (each.key, *each.aliases, *each.deprecated)]
        assert len(names) == len(set(names))
