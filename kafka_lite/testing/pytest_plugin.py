"""pytest fixtures: a broker per session, a topic per test, and faults that end with their test.

Kafka 0.10.2: core/src/test/.../integration/KafkaServerTestHarness.scala · book 1.4.1

Where kafka_lite is installed, every pytest run loads this module, so it imports nothing of the broker until a fixture
is used.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kafka_lite.testing.cluster import Cluster

REPORTED_REQUESTS = 40
_RUNNING = pytest.StashKey["list[Cluster]"]()
_TOPIC_NUMBERS = itertools.count(1)
_FIXTURES = {"kafka_cluster", "kafka_own_cluster"}
_NOT_IN_TOPICS = re.compile(r"[^a-zA-Z0-9._-]+")
MAX_TOPIC_LENGTH = 200  # Kafka allows 249


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--kafka-lite-config key=value``, and ini keys ``kafka_lite_config`` and ``kafka_lite_log_level``."""
    parser.getgroup("kafka_lite", "a Kafka broker for tests").addoption(
        "--kafka-lite-config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a key of the test broker's server.properties; may be given several times",
    )
    parser.addini(
        "kafka_lite_config", "keys of the test broker's server.properties, one key=value a line", type="linelist"
    )
    parser.addini("kafka_lite_log_level", "level of the test broker's log, e.g. INFO (default: WARNING)", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Create the list of running clusters."""
    config.stash[_RUNNING] = []


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Reset the clusters, so that the request log starts with the test."""
    for cluster in item.config.stash[_RUNNING]:
        cluster.reset()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """End the test's faults before its fixtures are torn down, so that clients close against a healthy broker."""
    for cluster in item.config.stash[_RUNNING]:
        cluster.reset()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Add the brokers' requests to a failed test's report; fail a test with a fault that was never put in force."""
    outcome = yield
    report = outcome.get_result()
    clusters = item.config.stash[_RUNNING]
    if call.when != "call" or not clusters:
        return
    if report.passed and (forgotten := [fault for cluster in clusters for fault in cluster.unarmed_faults]):
        report.outcome, report.longrepr = "failed", f"{item.nodeid}: {forgotten[0].not_in_force}"
    if report.failed and _FIXTURES & set(getattr(item, "fixturenames", ())):
        for cluster in clusters:
            report.sections.append((f"kafka_lite broker {cluster.bootstrap_servers}", _summary(cluster)))


def _summary(cluster: Cluster) -> str:
    faults = "".join(f"\n  {fault}, met {fault.count} times" for fault in cluster.faults)
    clock = f"its clock is {cluster.time.ahead_ms / 1000:g} s ahead\n" if cluster.time.ahead_ms else ""
    data = f"data in {cluster.data_dir} (until the end of the session)\n"
    requests = cluster.requests.tail(REPORTED_REQUESTS) or "  none"
    return f"{data}{clock}faults in force:{faults or ' none'}\nrequests of this test:\n{requests}"


@pytest.fixture(scope="session")
def kafka_cluster_config(pytestconfig: pytest.Config) -> dict[str, str]:
    """server.properties keys for the session's brokers, from ini file and command line. May be overridden."""
    lines = [*pytestconfig.getini("kafka_lite_config"), *pytestconfig.getoption("--kafka-lite-config")]
    return dict(_key_and_value(line) for line in lines)


def _key_and_value(line: str) -> tuple[str, str]:
    key, equals, value = line.partition("=")
    if not equals or not key.strip():
        raise pytest.UsageError(f"kafka_lite_config: {line!r} is not of the form key=value")
    return key.strip(), value.strip()


@pytest.fixture(scope="session")
def kafka_cluster(pytestconfig: pytest.Config, kafka_cluster_config: dict[str, str]) -> Iterator[Cluster]:
    """The session's broker; faults end with the test that injected them."""
    yield from _running(pytestconfig, kafka_cluster_config)


@pytest.fixture
def kafka_own_cluster(pytestconfig: pytest.Config, kafka_cluster_config: dict[str, str]) -> Iterator[Cluster]:
    """A broker for this test alone, which may advance its clock, restart it, or fill it."""
    yield from _running(pytestconfig, kafka_cluster_config)


def _running(config: pytest.Config, properties: dict[str, str]) -> Iterator[Cluster]:
    from kafka_lite.testing.cluster import Cluster

    level = config.getini("kafka_lite_log_level")
    if level:
        logging.getLogger("kafka_lite").setLevel(level.upper())
    running = config.stash[_RUNNING]
    with Cluster(properties) as cluster:
        running.append(cluster)
        try:
            yield cluster
        finally:
            running.remove(cluster)


@pytest.fixture
def kafka_bootstrap_servers(kafka_cluster: Cluster) -> str:
    """The value for a client's ``bootstrap.servers``."""
    return kafka_cluster.bootstrap_servers


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest, kafka_cluster: Cluster) -> Iterator[str]:
    """The name of a new topic for this test alone.

    It has one partition; ``@pytest.mark.parametrize("kafka_topic", [{"partitions": 3}], indirect=True)`` asks for
    another number, or for ``configs``. It is deleted at the end of the test.
    """
    wanted = getattr(request, "param", {})
    name = _NOT_IN_TOPICS.sub("-", request.node.name)[:MAX_TOPIC_LENGTH].strip("-")
    topic = f"{name}-{next(_TOPIC_NUMBERS)}"
    kafka_cluster.create_topic(topic, **wanted)
    yield topic
    if kafka_cluster.server.config.delete_topic_enable and topic in kafka_cluster.topics:
        kafka_cluster.delete_topic(topic)


@pytest.fixture
def kafka_faults(kafka_cluster: Cluster) -> Cluster:
    """The session's cluster, for tests whose signature should show that they inject faults."""
    return kafka_cluster
