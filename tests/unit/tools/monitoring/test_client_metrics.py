"""The flags of kafka-client-metrics.sh, and how pushed metrics are shown. (tests/clients has a broker.)"""

from __future__ import annotations

import argparse

import pytest

from kafka_lite.tools.monitoring import client_metrics
from kafka_lite.tools.monitoring.broker_beans import Beans
from tests.support.kafka_tools import our_tool

SERVER = ("--bootstrap-server", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--list",), "--bootstrap-server must be specified."),
        ((*SERVER, "--alter"), "One of --name or --generate-name must be specified with --alter."),
        ((*SERVER, "--alter", "--name", "n", "--generate-name"), "One of --name or --generate-name"),
        ((*SERVER, "--delete"), "A client metrics resource name must be specified with --delete."),
        ((*SERVER, "--list", "--name", "n"), "--list does not take --name"),
        ((*SERVER, "--describe", "--metrics", "m"), "--describe does not take --metrics"),
        ((*SERVER, "--delete", "--name", "n", "--interval", "5"), "--delete does not take --interval"),
        ((*SERVER, "--describe", "--once"), "--describe does not take --once"),
    ],
)
def test_flags_that_are_missing_or_mean_nothing_are_refused(arguments: tuple[str, ...], message: str) -> None:
    outcome = our_tool("client-metrics", *arguments)
    assert outcome.code == 1
    assert message in outcome.output


def test_two_actions_are_one_too_many() -> None:
    with pytest.raises(SystemExit):
        our_tool("client-metrics", *SERVER, "--list", "--describe")


def test_each_client_is_shown_with_its_values_in_order() -> None:
    beans: Beans = {"kafka.client:b": {"z": 1, "long.name": 2.5}, "kafka.client:a": {}}
    assert client_metrics.shown(beans).splitlines() == [
        "kafka.client:a", "kafka.client:b", "  long.name  2.5", "  z          1",
    ]  # fmt: skip


def test_without_pushes_that_is_said() -> None:
    assert client_metrics.shown({}) == "No client has pushed metrics to this broker."


def test_watching_needs_a_broker_with_metrics() -> None:
    parser = argparse.ArgumentParser()
    client_metrics.add_arguments(parser)
    options = parser.parse_args(["--watch", "--once", "--metrics-url", "http://127.0.0.1:1"])
    assert client_metrics.run(options) == 1
