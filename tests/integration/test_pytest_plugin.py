"""The pytest plugin, in separate runs of pytest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.patience import patient_s

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]


# Loaded by its entry point, as pytest finds it; without this project's many other plugins, which take two seconds.
ALONE = ("-p", "kafka_lite")


def run(
    folder: Path, code: str, *arguments: str, ini: str = "", conftest: str = "", plugins: Sequence[str] = ALONE
) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(code, encoding="utf-8")
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}\n", encoding="utf-8")
    (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    environment = os.environ | ({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if plugins else {})
    command = [*PYTEST, *plugins, *arguments, "test_it.py"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=patient_s(100), check=False
    )


def assert_passed(done: subprocess.CompletedProcess[str], count: int) -> None:
    assert f"{count} passed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


def test_fixtures_and_isolation(tmp_path: Path) -> None:
    code = """
import pytest
from kafka_lite.testing import Errors

TOPICS = []

@pytest.fixture
def fragile(kafka_cluster):
    yield
    assert kafka_cluster.faults == []  # already at teardown

@pytest.mark.parametrize("number", [1, 2])
def test_every_test_has_a_topic_of_its_own(kafka_cluster, kafka_topic, kafka_bootstrap_servers, number):
    assert kafka_bootstrap_servers == kafka_cluster.bootstrap_servers
    assert kafka_cluster.topics == {kafka_topic: 1}
    TOPICS.append(kafka_topic)
    assert len(set(TOPICS)) == number

@pytest.mark.parametrize("kafka_topic", [{"partitions": 3, "configs": {"cleanup.policy": "compact"}}], indirect=True)
def test_a_topic_may_be_of_another_kind(kafka_cluster, kafka_topic):
    assert kafka_cluster.topics == {kafka_topic: 3}

def test_faults_are_left(kafka_faults, fragile):
    kafka_faults.inject("Metadata", Errors.LEADER_NOT_AVAILABLE).always()
    kafka_faults.pause()

def test_faults_are_gone(kafka_cluster):
    assert kafka_cluster.faults == []
    assert len(kafka_cluster.requests) == 0

def test_an_own_cluster_is_another_one(kafka_cluster, kafka_own_cluster):
    assert kafka_own_cluster.bootstrap_servers != kafka_cluster.bootstrap_servers
    kafka_own_cluster.time.advance(days=1)
    assert kafka_cluster.time.ahead_ms == 0
"""
    assert_passed(run(tmp_path, code), 6)


def test_clusters_of_several_brokers(tmp_path: Path) -> None:
    code = """
import pytest

@pytest.fixture(scope="module")
def three(kafka_cluster_factory):
    with kafka_cluster_factory(brokers=3, config={"num.partitions": 2}) as cluster:
        yield cluster

def test_the_session_has_as_many_as_the_option_says(kafka_cluster, kafka_topic):
    assert len(kafka_cluster.brokers) == 2
    assert kafka_cluster.isr(kafka_topic) == {0, 1}

def test_a_factory_makes_clusters_of_any_scope(three):
    three.create_topic("orders")
    three.network.cut(0, 1)
    three.leader_of("orders").kill()

def test_brokers_are_running_again_and_the_network_is_restored(three):
    assert [broker.is_running for broker in three.brokers] == [True] * 3
    assert three.brokers[2].server.config.num_partitions == 2
    three.wait_for_isr("orders")

@pytest.mark.kafka_lite(brokers=3, config={"num.partitions": 4})
def test_a_marker_chooses_the_tests_own_cluster(kafka_own_cluster):
    assert [broker.server.config.num_partitions for broker in kafka_own_cluster.brokers] == [4] * 3
"""
    assert_passed(run(tmp_path, code, "--kafka-lite-brokers", "2", "--strict-markers"), 4)


def test_a_number_of_brokers_that_is_none_is_reported(tmp_path: Path) -> None:
    code = "def test_it(kafka_cluster): pass"
    done = run(tmp_path, code, ini="kafka_lite_brokers = several")
    assert done.returncode != 0
    assert "'several' is not a number of brokers" in done.stdout + done.stderr
    assert "0 is not a number of brokers" in run(tmp_path, code, "--kafka-lite-brokers", "0").stdout


def test_a_marker_without_the_names_of_its_values_is_reported(tmp_path: Path) -> None:
    code = """
import pytest

@pytest.mark.kafka_lite(3)
def test_it(kafka_own_cluster): pass
"""
    assert "@pytest.mark.kafka_lite(3): say what it is, as in kafka_lite(brokers=3)" in run(tmp_path, code).stdout


def test_a_marker_that_would_have_no_effect_is_reported(tmp_path: Path) -> None:
    code = """
import pytest

pytestmark = pytest.mark.kafka_lite(config={"num.partitions": 2})

@pytest.fixture
def orders(kafka_cluster): pass

@pytest.mark.kafka_lite(brokers=3)
def test_shared(kafka_topic): pass

def test_marked_with_its_module(orders): pass

def test_without_a_cluster(): pass

@pytest.mark.kafka_lite(brokers=3)
def test_marked_without_a_cluster(): pass

@pytest.mark.kafka_lite(broker=3)
def test_misspelt(kafka_own_cluster): pass

def test_own(kafka_own_cluster):
    assert kafka_own_cluster.server.config.num_partitions == 2
"""
    shown = run(tmp_path, code).stdout
    assert "2 passed, 4 errors" in shown, shown
    no_effect = "has an effect only on kafka_own_cluster, which"
    assert f"@pytest.mark.kafka_lite(brokers=3) {no_effect} test_shared does not use: take that fixture" in shown
    assert f"@pytest.mark.kafka_lite(config={{'num.partitions': 2}}) {no_effect} test_marked_with_its_module" in shown
    assert f"{no_effect} test_marked_without_a_cluster" in shown
    assert "kafka_lite(broker=3): broker is none of broker_overrides, brokers, config" in shown


def test_every_test_starts_with_an_unmoved_clock(tmp_path: Path) -> None:
    code = """
import pytest
from kafka_lite.testing import Cluster

@pytest.fixture(scope="module")
def three(kafka_cluster_factory):
    with kafka_cluster_factory(brokers=3) as cluster:
        yield cluster

def test_moves(kafka_cluster, three):
    kafka_cluster.create_topic("orders", configs={"message.timestamp.type": "LogAppendTime"})
    three.create_topic("orders")
    kafka_cluster.time.advance(days=30)
    three.time.advance(hours=1)

def test_does_not_see_it(kafka_cluster, three):
    assert (kafka_cluster.time.ahead_ms, three.time.ahead_ms) == (0, 0)
    kafka_cluster.produce("orders", "now")
    (record,) = kafka_cluster.records("orders")
    assert abs(record.timestamp_ms - __import__("time").time() * 1000) < 3_600_000
    three.produce("orders", "now")
    assert three.values("orders") == [b"now"]

def test_may_move_it_again(kafka_cluster):
    kafka_cluster.time.advance(days=1)
    assert kafka_cluster.time.ahead_ms == 24 * 3_600_000
"""
    assert_passed(run(tmp_path, code), 3)


LEAVES_A_MEMBER = """
import pytest
from confluent_kafka import Consumer

LEFT = []

@pytest.fixture(scope="module", autouse=True)
def closed_in_the_end():
    yield
    for consumer in LEFT:
        consumer.close()

def member(cluster, topic, client_id):
    servers = cluster.bootstrap_servers
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "billing", "client.id": client_id})
    consumer.subscribe([topic])
    LEFT.append(consumer)
    return consumer

def assigned(consumer):
    while not consumer.assignment():
        consumer.poll(0.1)

def test_leaves_a_member(kafka_cluster):
    kafka_cluster.create_topic("orders", 2)
    assigned(member(kafka_cluster, "orders", "shop"))

def test_the_one_that_is_left_may_be_used_on(kafka_cluster):
    LEFT[0].poll(0.1)

def test_joins(kafka_cluster):
    member(kafka_cluster, "orders", "office").poll(0.1)
    kafka_cluster.requests.wait_for("JoinGroup", where=lambda seen: seen.client_id == "office")
"""


def test_a_member_that_holds_up_a_later_test_is_named_with_the_test_that_left_it(tmp_path: Path) -> None:
    line = (
        r"group 'billing' has the member 'shop-[^']+' \(client.id 'shop' at 127\.0\.0\.1\), left by "
        r"test_it\.py::test_leaves_a_member: a new member waits for it.* Close the consumer at the end of that test"
    )
    failing = run(tmp_path, LEAVES_A_MEMBER + "    assert False\n").stdout
    assert "1 failed, 2 passed" in failing
    assert re.search(rf"- kafka_lite: a member that another test has left -+\n{line}", failing), failing
    passing = run(tmp_path, LEAVES_A_MEMBER, "-W", "default::UserWarning").stdout
    assert "3 passed, 1 warning" in passing
    assert re.search(rf"test_it\.py::test_joins was held up: {line}", passing), passing


def test_a_cluster_that_a_test_stops_fails_the_tests_that_use_it_and_no_others(tmp_path: Path) -> None:
    code = """
def test_stop(kafka_cluster):
    kafka_cluster.stop()
    assert False

def test_after(kafka_cluster):
    kafka_cluster.create_topic("orders")

def test_own(kafka_own_cluster):
    kafka_own_cluster.create_topic("orders")
"""
    shown = run(tmp_path, code).stdout
    assert "2 failed, 1 passed" in shown
    assert "this cluster has not been started, or has been stopped" in shown
    assert "stopped by a test" in shown


def test_a_failure_shows_the_requests_that_the_broker_received(tmp_path: Path) -> None:
    code = """
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.testing import Errors

def test_it(kafka_cluster):
    kafka_cluster.inject("ApiVersions", Errors.UNKNOWN_SERVER_ERROR).once()
    host, port = kafka_cluster.bootstrap_servers.split(":")
    with BlockingChannel(host, int(port), client_id="shop") as channel:
        assert channel.exchange(ApiVersionsRequest(), 0).error_code == 0

def test_without_a_broker():
    assert False
"""
    shown = run(tmp_path, code).stdout
    assert re.search(r"-- kafka_lite broker 127\.0\.0\.1:\d+ --", shown), shown
    assert "API_VERSIONS: UNKNOWN_SERVER_ERROR, 1 times" in shown
    assert re.search(r"API_VERSIONS v0 of 'shop' at .*← API_VERSIONS: UNKNOWN_SERVER_ERROR", shown), shown
    assert shown.count("-- kafka_lite broker") == 1
    assert "2 failed" in shown


def test_a_fault_that_was_never_put_in_force_fails_its_test(tmp_path: Path) -> None:
    code = """
def test_forgotten(kafka_cluster):
    kafka_cluster.inject("Produce").drop_response()

def test_the_next_one(kafka_cluster):
    kafka_cluster.inject("Produce").drop_response().once()
"""
    shown = run(tmp_path, code).stdout
    assert "1 failed, 1 passed" in shown
    assert "not in force: PRODUCE: handled, response dropped, connection closed; end it with .once()" in shown


def test_configuration_comes_from_ini_command_line_and_conftest(tmp_path: Path) -> None:
    code = """
def test_it(kafka_cluster):
    config = kafka_cluster.server.config
    assert (config.num_partitions, config.message_max_bytes) == (5, 2000)
    assert not config.auto_create_topics_enable
"""
    ini = "kafka_lite_config =\n    num.partitions=4\n    message.max.bytes=2000"
    conftest = """
import pytest

@pytest.fixture(scope="session")
def kafka_cluster_config(kafka_cluster_config):
    return kafka_cluster_config | {"auto.create.topics.enable": False}
"""
    assert_passed(run(tmp_path, code, "--kafka-lite-config", "num.partitions=5", ini=ini, conftest=conftest), 1)


def test_an_invalid_option_is_reported(tmp_path: Path) -> None:
    done = run(tmp_path, "def test_it(kafka_cluster): pass", "--kafka-lite-config", "nonsense")
    assert "'nonsense' is not of the form key=value" in done.stdout


def test_the_log_level_can_be_lowered(tmp_path: Path) -> None:
    code = "def test_it(kafka_own_cluster): assert False"
    assert "Awaiting socket connections" not in run(tmp_path, code).stdout
    assert "Awaiting socket connections" in run(tmp_path, code, ini="kafka_lite_log_level = info").stdout
    refusal = run(tmp_path, code, ini="kafka_lite_log_level = loud").stdout
    assert "kafka_lite_log_level: 'loud' is not a logging level" in refusal


def test_runs_that_do_not_use_the_plugin_import_nothing(tmp_path: Path) -> None:
    code = """
import sys

def test_nothing_is_loaded():
    loaded = {name for name in sys.modules if name.startswith("kafka_lite")}
    assert loaded == {"kafka_lite", "kafka_lite.testing", "kafka_lite.testing.pytest_plugin"}
"""
    assert_passed(run(tmp_path, code, plugins=()), 1)


@pytest.mark.slow
def test_workers_have_their_own_brokers(tmp_path: Path) -> None:
    code = """
import pytest

@pytest.mark.parametrize("number", range(4))
def test_it(kafka_cluster, kafka_topic, number):
    kafka_cluster.produce(kafka_topic, str(number))
    assert kafka_cluster.values(kafka_topic) == [str(number).encode()]
"""
    assert_passed(run(tmp_path, code, "-n", "2", plugins=()), 4)
