"""pytest fixtures: a cluster per session, a topic per test, and faults that end with their test.

Kafka 0.10.2: core/src/test/.../integration/KafkaServerTestHarness.scala · book 1.4.1, 1.4.2

Where kafka_lite is installed, every pytest run loads this module, so it imports nothing of the broker until a fixture
is used.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import re
import warnings
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kafka_lite.testing.cluster import Cluster
    from kafka_lite.testing.left_members import LeftMembers

REPORTED_REQUESTS = 40
_RUNNING = pytest.StashKey["list[Cluster]"]()
_LEFT = pytest.StashKey["LeftMembers"]()
_IN_THE_WAY = pytest.StashKey["list[str]"]()
_TOPIC_NUMBERS = itertools.count(1)
_OWN = "kafka_own_cluster"
_SHARED = {"kafka_cluster", "kafka_cluster_factory"}
_FIXTURES = {_OWN, *_SHARED}
MARKER = "kafka_lite"
_MARKED = {"brokers", "config", "data_dir", "broker_overrides", "time", "security"}
_NOT_IN_TOPICS = re.compile(r"[^a-zA-Z0-9._-]+")
MAX_TOPIC_LENGTH = 200  # Kafka allows 249


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--kafka-lite-config key=value``, ``--kafka-lite-brokers N``, and the ini keys of these names."""
    group = parser.getgroup("kafka_lite", "a Kafka cluster for tests")
    group.addoption(
        "--kafka-lite-config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a key of the test brokers' server.properties; may be given several times",
    )
    group.addoption(
        "--kafka-lite-brokers", type=int, metavar="N", help="number of brokers in each cluster (default: 1)"
    )
    parser.addini("kafka_lite_brokers", "number of brokers in each test cluster", default="1")
    parser.addini(
        "kafka_lite_config", "keys of the test broker's server.properties, one key=value a line", type="linelist"
    )
    parser.addini("kafka_lite_log_level", "level of the test broker's log, e.g. INFO (default: WARNING)", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Create the list of running clusters, and register the marker."""
    config.stash[_RUNNING] = []
    config.addinivalue_line(
        "markers",
        f"{MARKER}(brokers=1, config=None, security=None): the number of brokers in the test's kafka_own_cluster, keys "
        "of their server.properties, and how its clients are protected",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each test running brokers without faults, an unmoved clock, and a request log that starts with it."""
    _check_marker(item)
    clusters = item.config.stash[_RUNNING]
    _turn_clocks_back(clusters)
    for cluster in clusters:
        cluster.start_broker()
        cluster.reset()


def _turn_clocks_back(clusters: list[Cluster]) -> None:
    """Undo what earlier tests advanced. A clock goes back only while no broker runs on it."""
    moved = {cluster.time for cluster in clusters if cluster.time.ahead_ms}
    for cluster in clusters:
        if cluster.time in moved:
            cluster.stop_broker()
    for clock in moved:
        clock.go_back()


def _check_marker(item: pytest.Item) -> None:
    """Raises UsageError if the marker has no effect on this test, or says something that no cluster knows."""
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        return
    values = [*map(repr, marker.args), *(f"{key}={value!r}" for key, value in marker.kwargs.items())]
    written = f"@pytest.mark.{MARKER}({', '.join(values)})"
    if marker.args:
        raise pytest.UsageError(f"{written}: say what it is, as in {MARKER}(brokers=3)")
    if unknown := sorted(marker.kwargs.keys() - _MARKED):
        raise pytest.UsageError(f"{written}: {unknown[0]} is none of {', '.join(sorted(_MARKED))}")
    used = set(getattr(item, "fixturenames", ()))
    is_on_the_test = any(own.name == MARKER for own in item.own_markers)
    if _OWN not in used and (used & _SHARED or is_on_the_test):
        raise pytest.UsageError(
            f"{written} has an effect only on {_OWN}, which {item.name} does not use: take that fixture instead of "
            "kafka_cluster, which all tests share (--kafka-lite-brokers sets its size), or make a fixture of your own "
            "with kafka_cluster_factory(brokers=3)"
        )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """End the test's faults before its fixtures are torn down, so that clients close against a healthy broker.

    Afterwards, note the members that it has left in groups.
    """
    clusters = item.config.stash[_RUNNING]
    for cluster in clusters:
        cluster.reset()
    yield
    for line in item.stash.get(_IN_THE_WAY, []):
        warnings.warn(f"{item.nodeid} was held up: {line}", stacklevel=1)
    for cluster in clusters:
        if cluster.is_started:
            _left_members(item.config).note(cluster, item.nodeid)


def _left_members(config: pytest.Config) -> LeftMembers:
    from kafka_lite.testing.left_members import LeftMembers

    return config.stash.setdefault(_LEFT, LeftMembers())


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
    if not _FIXTURES & set(getattr(item, "fixturenames", ())):
        return
    left = _left_members(item.config)
    held_up_by = [line for cluster in clusters if cluster.is_started for line in left.in_the_way(cluster)]
    if report.passed:
        item.stash[_IN_THE_WAY] = held_up_by
    if report.failed:
        report.sections += [("kafka_lite: a member that another test has left", line) for line in held_up_by]
        for cluster in clusters:
            if not cluster.is_started:
                report.sections.append(("kafka_lite cluster", "stopped by a test: stop_broker() and restart() keep it"))
                continue
            title = "broker" if len(cluster.brokers) == 1 else f"cluster of {len(cluster.brokers)}"
            report.sections.append((f"kafka_lite {title} {cluster.bootstrap_servers}", _summary(cluster)))


def _summary(cluster: Cluster) -> str:
    faults = "".join(f"\n  {fault}, {fault.count} times" for fault in cluster.faults)
    clock = f"its clock is {cluster.time.ahead_ms / 1000:g} s ahead\n" if cluster.time.ahead_ms else ""
    data = f"data in {cluster.data_dir} (until the end of the session)\n"
    requests = cluster.requests.tail(REPORTED_REQUESTS) or "  none"
    down = ", ".join(str(broker) for broker in cluster.brokers if not broker.is_running)
    down = f"down: {down}\n" if down else ""
    return f"{data}{clock}{down}faults in force:{faults or ' none'}\nrequests of this test:\n{requests}"


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
    """The session's cluster; faults end with the test that injected them."""
    with _running(pytestconfig, kafka_cluster_config, {}) as cluster:
        yield cluster


@pytest.fixture
def kafka_own_cluster(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config, kafka_cluster_config: dict[str, str]
) -> Iterator[Cluster]:
    """A cluster for this test alone, which may advance its clock, restart or kill its brokers, or fill them.

    ``@pytest.mark.kafka_lite(brokers=3, config={"min.insync.replicas": 2})`` asks for another one than the session's.
    """
    marker = request.node.get_closest_marker(MARKER)
    with _running(pytestconfig, kafka_cluster_config, dict(marker.kwargs) if marker is not None else {}) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka_cluster_factory(
    pytestconfig: pytest.Config, kafka_cluster_config: dict[str, str]
) -> Callable[..., contextlib.AbstractContextManager[Cluster]]:
    """Makes clusters for fixtures of your own, of any scope::

    @pytest.fixture(scope="module")
    def three_brokers(kafka_cluster_factory):
        with kafka_cluster_factory(brokers=3, config={"min.insync.replicas": 2}) as cluster:
            yield cluster
    """
    return lambda **wanted: _running(pytestconfig, kafka_cluster_config, wanted)


@contextlib.contextmanager
def _running(config: pytest.Config, properties: dict[str, str], wanted: dict[str, Any]) -> Iterator[Cluster]:
    """A cluster whose faults end with each test. ``wanted``: arguments of ``Cluster``, with ``config`` for its keys."""
    from kafka_lite.testing.cluster import Cluster

    level = config.getini("kafka_lite_log_level")
    if level:
        _set_log_level(level)
    running = config.stash[_RUNNING]
    overrides = properties | (wanted.pop("config", None) or {})
    with Cluster(overrides, **{"brokers": _brokers(config), **wanted}) as cluster:
        running.append(cluster)
        try:
            yield cluster
        finally:
            running.remove(cluster)


def _set_log_level(level: str) -> None:
    try:
        logging.getLogger("kafka_lite").setLevel(level.upper())
    except ValueError:
        raise pytest.UsageError(f"kafka_lite_log_level: {level!r} is not a logging level") from None


def _brokers(config: pytest.Config) -> int:
    number = config.getoption("--kafka-lite-brokers")
    if number is None:
        number = config.getini("kafka_lite_brokers")
    if not str(number).isdigit() or int(number) < 1:
        raise pytest.UsageError(f"kafka_lite_brokers: {number!r} is not a number of brokers")
    return int(number)


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
    broker = next(broker for broker in kafka_cluster.brokers if broker.is_running)
    if broker.server.config.delete_topic_enable and topic in kafka_cluster.topics:
        kafka_cluster.delete_topic(topic)


@pytest.fixture
def kafka_faults(kafka_cluster: Cluster) -> Cluster:
    """The session's cluster, for tests whose signature should show that they inject faults."""
    return kafka_cluster
