"""A broker started with the shipped logging configuration: its files, and levels that change while it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.server.broker_process import SERVER_START, BrokerProcess, ServerProcess
from kafka_lite.tools.main import main
from tests.support.eventually import eventually

CONFIGURATION = Path(__file__).parents[2] / "config" / "logging.toml"
FILES = {"server.log", "controller.log", "state-change.log", "kafka-request.log", "log-cleaner.log"}
REQUEST = re.compile(
    r"\[[-\d]+ [\d:,]+\] DEBUG Completed request:\{api_key=3,api_version=\d+,correlation_id=\d+,client_id=\S+\} "
    r"from connection 127\.0\.0\.1:\d+-127\.0\.0\.1:\d+-\d+;totalTime:[\d.]+,requestQueueTime:[\d.]+,localTime:[\d.]+,"
    r"remoteTime:[\d.]+,throttleTime:[\d.]+,responseQueueTime:[\d.]+,sendTime:[\d.]+,securityProtocol:PLAINTEXT,"
    r"principal:User:ANONYMOUS,listener:PLAINTEXT \(kafka\.request\.logger\)"
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("broker") / "logs"


@pytest.fixture(scope="module")
def broker(logs: Path) -> Iterator[ServerProcess]:
    start = ("env", f"LOG_DIR={logs}", *SERVER_START, "--log-config", str(CONFIGURATION))
    with BrokerProcess(logs.parent, {"zookeeper.embedded.port": "0"}, start_command=start) as process:
        yield process


def lines(file: Path) -> list[str]:
    """Lines of the file and of its rolled predecessors: the hour may end while the test runs."""
    files = sorted(file.parent.glob(f"{file.name}*"), key=lambda each: (each == file, each.name))
    return [line for each in files for line in each.read_text(encoding="utf-8").splitlines()]


def tool(broker: ServerProcess, name: str, *arguments: str) -> None:
    assert main([name, "--bootstrap-server", broker.bootstrap_servers, *arguments]) == 0


def test_each_component_writes_its_own_file(broker: ServerProcess, logs: Path) -> None:
    tool(broker, "topics", "--create", "--topic", "watched", "--partitions", "1")
    tool(broker, "topics", "--delete", "--topic", "watched")
    assert {re.sub(r"(?<=\.log)\.[-\d]+$", "", file.name) for file in logs.iterdir()} == FILES
    changes = "\n".join(lines(logs / "state-change.log"))
    for step in (
        r"TRACE Controller 0 epoch 1 changed partition \[watched,0\] state from NonExistentPartition to NewPartition "
        r"with assigned replicas 0 \(state\.change\.logger\)",
        r"TRACE Controller 0 epoch 1 changed partition \[watched,0\] from NewPartition to OnlinePartition "
        r"with leader 0",
        r"TRACE Controller 0 epoch 1 sending become-leader LeaderAndIsr request "
        r"\(Leader:0,ISR:0,LeaderEpoch:0,ControllerEpoch:1\) to broker 0 for partition \[watched,0\]",
        r"TRACE Broker 0 completed LeaderAndIsr request for the become-leader transition from controller epoch 1 "
        r"for partition \[watched,0\]",
        r"TRACE Broker 0 cached leader info .* for partition watched-0 in response to UpdateMetadata request",
        r"TRACE Broker 0 handling stop replica \(delete=true\) for partition watched-0",
        r"TRACE Broker 0 deleted partition watched-0 from metadata cache in response to UpdateMetadata request",
        r"from ReplicaDeletionStarted to ReplicaDeletionSuccessful",
    ):
        assert re.search(step, changes), step
    assert any("New topics: ['watched']" in line for line in lines(logs / "controller.log"))
    assert any("Created log for partition watched-0" in line for line in lines(logs / "server.log"))
    shown = broker.log()
    assert "Created log for partition watched-0" in shown
    assert "New topics" not in shown
    assert lines(logs / "kafka-request.log") == []


def test_requests_are_logged_once_the_level_is_lowered(broker: ServerProcess, logs: Path) -> None:
    file = logs / "kafka-request.log"

    def asked_for_topics() -> list[str]:  # repeatedly: the level is read ten times a second
        tool(broker, "topics", "--list")
        return lines(file)

    tool(broker, "configs", "--alter", "--broker-logger", "0", "--add-config", "kafka.request.logger=DEBUG")
    eventually(lambda: any(REQUEST.fullmatch(line) for line in asked_for_topics()))
    tool(broker, "configs", "--alter", "--broker-logger", "0", "--add-config", "kafka.request.logger=TRACE")
    eventually(lambda: any(" -- {topics=null," in line for line in asked_for_topics()))
    tool(broker, "configs", "--alter", "--broker-logger", "0", "--add-config", "kafka.request.logger=WARN")
    eventually(lambda: "kafka.request.logger to WARN" in "\n".join(lines(logs / "server.log")))

    def is_silent() -> bool:  # not at once: the last requests at the old level may still be written
        count = len(lines(file))
        tool(broker, "topics", "--list")
        return len(lines(file)) == count

    eventually(is_silent)
