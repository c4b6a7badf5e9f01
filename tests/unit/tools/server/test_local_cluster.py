"""A cluster of processes that are only noted: ports, properties, pid files, what has ended, and the order of a stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.server.broker_process import SERVER_START
from kafka_lite.tools.server import local_cluster
from kafka_lite.tools.server.local_cluster import PID_FILE, LocalCluster

_PIDS = iter(range(1000, 10_000))


class Process:
    """In place of a ServerProcess."""

    def __init__(self, name: str, done: list[str]) -> None:
        self.name, self.done = name, done
        self.is_running = False
        self.process = SimpleNamespace(pid=0, returncode=None)

    def start(self) -> float:
        self.is_running = True
        self.process.pid = next(_PIDS)
        self.done.append(f"start {self.name}")
        return 1.0

    def stop(self) -> int | None:
        self.done.append(f"stop {self.name}")
        self.is_running = False
        return 0

    def die(self, code: int) -> None:
        self.is_running = False
        self.process.returncode = code

    def end_of_log(self) -> str:
        return "the last line"


class Other:
    """A broker that was started by hand, below a folder of the cluster."""

    def __init__(self, pid: int, folder: Path, done: list[str]) -> None:
        self.pid, self.facts, self.done = pid, {"log.dirs": f"/elsewhere,{folder / 'kafka-logs'}"}, done
        self.polls_left = 2

    def stop(self) -> None:
        self.done.append(f"stop {self.pid}")

    def is_running(self) -> bool:
        self.polls_left -= 1
        return self.polls_left > 0


class Machine:
    """What the cluster starts, and what else runs."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.settings: list[dict[str, str]] = []
        self.zookeeper: Process | None = None
        self.others: list[Other] = []
        self.taken: set[int] = set()
        self.start_commands: set[tuple[str, ...]] = set()

    def broker(self, _folder: Path, settings: Mapping[str, str], *, start_command: Sequence[str]) -> Process:
        self.settings.append(dict(settings))
        self.start_commands.add(tuple(start_command))
        return Process(f"broker {settings['broker.id']}", self.done)

    def server(self, command: list[str], _port: int, _log: Path) -> Process:
        self.done.append(" ".join(part for part in command if "=" in part))
        self.zookeeper = Process("ZooKeeper", self.done)
        return self.zookeeper


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(local_cluster, "BrokerProcess", machine.broker)
    monkeypatch.setattr(local_cluster, "ServerProcess", machine.server)
    monkeypatch.setattr(local_cluster, "takes_connections", machine.taken.__contains__)
    monkeypatch.setattr(local_cluster, "RunningBrokers", lambda: SimpleNamespace(find=lambda: machine.others))
    monkeypatch.setattr(local_cluster, "_POLL_MS", 0)
    return machine


def cluster_of(folder: Path, brokers: int = 3, **overrides: str) -> LocalCluster:
    return LocalCluster(folder, brokers, 9092, 2181, {key.replace("_", "."): value for key, value in overrides.items()})


def pid_of(cluster: LocalCluster, broker_id: int) -> str | None:
    file = cluster.broker_folder(broker_id) / PID_FILE
    return file.read_text().strip() if file.exists() else None


def test_zookeeper_starts_first_and_each_broker_has_a_port_and_a_pid_file(machine: Machine, tmp_path: Path) -> None:
    cluster = cluster_of(tmp_path, num_partitions="7")
    cluster.start()
    assert machine.done == [
        f"dataDir={tmp_path}/zookeeper clientPort=2181", "start ZooKeeper", "start broker 0", "start broker 1",
        "start broker 2",
    ]  # fmt: skip
    assert cluster.bootstrap_servers == "127.0.0.1:9092,127.0.0.1:9093,127.0.0.1:9094"
    assert [each["listeners"].rpartition(":")[2] for each in machine.settings] == ["9092", "9093", "9094"]
    assert {each["zookeeper.connect"] for each in machine.settings} == {"127.0.0.1:2181"}
    assert {each["num.partitions"] for each in machine.settings} == {"7"}
    pids = [str(each.process.pid) for each in cluster.brokers.values()]
    assert [pid_of(cluster, number) for number in range(3)] == pids


@pytest.mark.parametrize(("brokers", "replicas"), [(1, "1"), (2, "2"), (5, "3")])
def test_topics_have_as_many_replicas_as_there_are_brokers_up_to_three(
    machine: Machine, tmp_path: Path, brokers: int, replicas: str
) -> None:
    cluster_of(tmp_path, brokers).start()
    factors = ("default.replication.factor", "offsets.topic.replication.factor")
    assert {each[key] for each in machine.settings for key in factors} == {replicas}


def test_brokers_are_started_by_another_command_if_there_is_one(machine: Machine, tmp_path: Path) -> None:
    cluster_of(tmp_path).start()
    LocalCluster(tmp_path, 1, 9092, 2181, {}, ["mine", "server-start"]).start()
    assert machine.start_commands == {SERVER_START, ("mine", "server-start")}


@pytest.mark.parametrize("port", [2181, 9094])
def test_a_port_that_is_taken_is_said_before_anything_starts(machine: Machine, tmp_path: Path, port: int) -> None:
    machine.taken.add(port)
    with pytest.raises(KafkaError, match=f"Port {port} of 127.0.0.1 is in use"):
        cluster_of(tmp_path).start()
    assert machine.done == []


def test_zookeeper_and_a_broker_cannot_share_a_port(machine: Machine, tmp_path: Path) -> None:
    with pytest.raises(KafkaError, match="Port 9093 cannot be both"):
        LocalCluster(tmp_path, 3, 9092, 9093, {}).start()


def test_a_pid_file_of_an_earlier_cluster_is_removed_before_the_start(machine: Machine, tmp_path: Path) -> None:
    left = tmp_path / "broker-7" / PID_FILE
    left.parent.mkdir()
    left.write_text("1\n")
    cluster_of(tmp_path, 1).start()
    assert not left.exists()


def test_a_broker_that_ended_is_told_once_and_has_no_pid_file(machine: Machine, tmp_path: Path) -> None:
    cluster = cluster_of(tmp_path)
    cluster.start()
    told: list[tuple[int, int | None]] = []
    cluster.brokers[1].die(-9)  # type: ignore[attr-defined]
    for _ in range(3):
        cluster.watch(lambda *ended: told.append(ended))
    assert told == [(1, -9)]
    assert pid_of(cluster, 1) is None
    assert pid_of(cluster, 2) == str(cluster.brokers[2].process.pid)


def test_a_broker_that_was_started_again_by_hand_has_its_pid_in_the_file(machine: Machine, tmp_path: Path) -> None:
    cluster = cluster_of(tmp_path)
    cluster.start()
    cluster.brokers[1].die(-9)  # type: ignore[attr-defined]
    machine.others.append(Other(77, cluster.broker_folder(1), machine.done))
    cluster.watch(lambda *_: None)
    assert pid_of(cluster, 1) == "77"
    machine.others.clear()
    cluster.watch(lambda *_: None)
    assert pid_of(cluster, 1) is None


def test_the_end_of_zookeeper_is_an_error_with_the_end_of_its_log(machine: Machine, tmp_path: Path) -> None:
    cluster = cluster_of(tmp_path, 1)
    cluster.start()
    assert machine.zookeeper is not None
    machine.zookeeper.die(1)
    with pytest.raises(KafkaError, match=r"ZooKeeper has ended\. The end of its log:\nthe last line"):
        cluster.watch(lambda *_: None)


def test_zookeeper_stops_after_all_brokers_even_those_started_by_hand(machine: Machine, tmp_path: Path) -> None:
    cluster = cluster_of(tmp_path, 2)
    cluster.start()
    machine.others.append(Other(77, cluster.broker_folder(1), machine.done))
    machine.others.append(Other(78, Path("/another/cluster"), machine.done))
    machine.done.clear()
    cluster.stop()
    assert machine.done == ["stop broker 0", "stop broker 1", "stop 77", "stop ZooKeeper"]
    assert [pid_of(cluster, number) for number in range(2)] == [None, None]


def test_a_broker_that_has_just_ended_by_itself_does_not_disturb_a_stop(machine: Machine, tmp_path: Path) -> None:
    class Gone(Other):
        def stop(self) -> None:
            raise ProcessLookupError

    cluster = cluster_of(tmp_path, 1)
    cluster.start()
    machine.others.append(Gone(77, cluster.broker_folder(0), machine.done))
    cluster.stop()
    assert machine.done[-1] == "stop ZooKeeper"


def test_a_cluster_that_did_not_start_can_be_stopped(machine: Machine, tmp_path: Path) -> None:
    cluster_of(tmp_path).stop()
    assert machine.done == []
