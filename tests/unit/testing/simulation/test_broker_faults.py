"""What a fault of a broker does while it lasts, and that it is over afterwards: on servers that only sleep."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.testing.history.history import History
from kafka_lite.testing.simulation.broker_faults import FEW_DESCRIPTORS, BrokerFaults
from kafka_lite.testing.simulation.cluster import PORT, Broker, BrokerCluster, ZooKeeper
from kafka_lite.testing.simulation.endpoint import Endpoint
from kafka_lite.testing.simulation.faults import WORKERS, Fault, Kind
from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.scheduler import State
from kafka_lite.testing.simulation.world import World

OF_CLIENTS = (Kind.KILL_CONSUMER, Kind.PAUSE_CONSUMER, Kind.KILL_MIRRORS, *WORKERS)
OF_BROKERS = [kind for kind in Kind if kind not in OF_CLIENTS]
LASTS_S = 4.0
SECOND = 0.4
"""An amount that means the second of three brokers, and a part of what there is."""


class SleepingBroker(Broker):
    """``sees`` is what it knows as a KafkaServer."""

    sees: Any = None

    def _started(self) -> Process:
        return self.machine.start("time:sleep", 10_000.0)

    @property
    def parts(self) -> Any:
        return self.sees if self.process is not None and self.process.is_running else None


class SleepingZooKeeper(ZooKeeper):
    """``sees`` is what it knows as an EmbeddedZooKeeper."""

    sees: Any = None

    def _started(self) -> Process:
        return self.machine.start("time:sleep", 10_000.0)

    @property
    def parts(self) -> Any:
        return self.sees


class Play:
    """Three brokers and a ZooKeeper that run, and the faults of them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.history = History()
        self.cluster = BrokerCluster(world, 3, {})
        machines = [broker.machine for broker in self.cluster.brokers]
        self.brokers = [SleepingBroker(world, machine, number=number) for number, machine in enumerate(machines)]
        self.zookeeper = SleepingZooKeeper(world, world.machine("zookeeper"))
        self.cluster.brokers, self.cluster.zookeeper = [*self.brokers], self.zookeeper
        self.clients = world.machine("clients")
        for server in self.cluster.servers:
            server.start()
        self.faults = BrokerFaults(world, self.cluster, self.stop, self.clients, {"t": 1}, self.history)
        self.second = self.brokers[1]

    def stop(self, broker: Broker) -> None:
        broker.stop()
        self.world.wait_until(lambda: not broker.running().is_running, 10, "a clean stop")

    def during(self, kind: Kind, look: Callable[[], Any], amount: float = SECOND) -> Any:
        """What ``look`` finds in the middle of a fault, which is over when this returns."""
        began = self.world.now_s
        applying = self.world.in_background("fault", lambda: self.faults.apply(Fault(kind, LASTS_S, 1.0, amount)))
        self.world.sleep(LASTS_S / 2)
        found = look()
        self.world.wait_until(lambda: applying.state is State.ENDED, 10, "the end of the fault")
        assert self.world.now_s - began >= LASTS_S
        return found

    def cut_links(self) -> set[str]:
        """The links that are cut, as ``source>target``."""
        names = [*(server.machine.name for server in self.cluster.servers), "clients"]
        pairs = [(source, target) for source in names for target in names]
        return {">".join(pair) for pair in pairs if self.world.network.link(*pair).is_cut}

    def connects(self) -> Endpoint:
        """A client's connection to the second broker, after a second."""
        endpoint = Endpoint(self.world.network, "clients")
        self.world.network.connect(endpoint, (self.second.machine.ip, PORT))
        self.world.sleep(1)
        return endpoint

    def listen(self) -> None:
        """Let the second broker accept connections."""
        self.world.network.listen(self.second.machine.name, (self.second.machine.ip, PORT))


@pytest.fixture
def played(tmp_path: Path) -> Callable[[Callable[[Play], Any]], list[str]]:
    """Runs a scenario; returns what was noted."""

    def run(scenario: Callable[[Play], Any]) -> list[str]:
        world = World(1, tmp_path)
        world.run(lambda world: scenario(Play(world)))
        return list(world.events.notes)

    return run


def test_after_any_fault_all_servers_run_and_all_links_are_whole(played: Any) -> None:
    def scenario(play: Play) -> None:
        disk = play.second.machine.disk.faults
        for kind in OF_BROKERS:
            play.faults.apply(Fault(kind, LASTS_S, 1.0, SECOND))
            assert all(server.running().is_running for server in play.cluster.servers), kind
            assert play.cut_links() == set(), kind
            assert (disk.free_bytes, disk.failing_write) == (None, None), kind

    played(scenario)


@pytest.mark.parametrize("kind", [Kind.KILL, Kind.STOP, Kind.POWER], ids=lambda kind: kind.name)
def test_a_broker_is_down_during_the_fault_and_is_started_again(kind: Kind, played: Any) -> None:
    def scenario(play: Play) -> None:
        before, machine = play.second.process, play.second.machine.name
        down = play.during(kind, lambda: [broker.running().is_running for broker in play.brokers])
        assert down == [True, False, True]
        assert play.second.process is not before
        assert play.faults.power_failed == (kind is Kind.POWER)
        assert not play.world.network.is_down(machine)

    played(scenario)


@pytest.mark.parametrize("kind", [Kind.KILL, Kind.STOP, Kind.POWER, Kind.FULL, Kind.DESCRIPTORS], ids=lambda k: k.name)
def test_a_broker_that_another_fault_keeps_down_stays_down(kind: Kind, played: Any) -> None:
    def scenario(play: Play) -> None:
        play.second.kill()
        before = play.world.now_s
        play.faults.apply(Fault(kind, LASTS_S, 1.0, SECOND))
        assert (play.world.now_s, play.second.is_wanted, play.second.running().is_running) == (before, False, False)

    played(scenario)


def test_the_controller_is_killed_whichever_broker_it_is(played: Any) -> None:
    def scenario(play: Play) -> None:
        play.brokers[2].sees = SimpleNamespace(controller=SimpleNamespace(is_active=True))
        running = play.during(Kind.KILL_CONTROLLER, lambda: [each.running().is_running for each in play.brokers])
        assert running == [True, True, False]
        play.brokers[2].sees = None
        running = play.during(Kind.KILL_CONTROLLER, lambda: [each.running().is_running for each in play.brokers])
        assert running == [True, False, True]  # no controller now: any broker

    played(scenario)


def test_zookeeper_is_killed_alone(played: Any) -> None:
    def scenario(play: Play) -> None:
        running = play.during(Kind.KILL_ZOOKEEPER, lambda: [each.running().is_running for each in play.cluster.servers])
        assert running == [True, True, True, False]

    played(scenario)


def test_a_paused_broker_is_the_same_process_afterwards(played: Any) -> None:
    def scenario(play: Play) -> None:
        process = play.second.running()
        assert play.during(Kind.PAUSE, lambda: process.pauses[-1].ended_ns) is None
        assert process.pauses[-1].ended_ns is not None
        assert play.second.process is process

    played(scenario)


FROM_OTHERS = {f"{machine}>broker-1" for machine in ("broker-0", "broker-2", "zookeeper", "clients")}
TO_OTHERS = {f"broker-1>{machine}" for machine in ("broker-0", "broker-2", "zookeeper", "clients")}


@pytest.mark.parametrize(
    ("kind", "amount", "cut"),
    [
        (Kind.CUT, SECOND, FROM_OTHERS | TO_OTHERS),
        (Kind.CUT_REQUESTS, SECOND, FROM_OTHERS),
        (Kind.CUT_RESPONSES, SECOND, TO_OTHERS),
        (Kind.CUT_ZOOKEEPER, SECOND, {"zookeeper>broker-1", "broker-1>zookeeper"}),
        (Kind.CUT_PAIR, 0.40001, {"broker-1>broker-0", "broker-0>broker-1"}),
        (Kind.CUT_PAIR, 0.4002, {"zookeeper>broker-1"}),
    ],
)
def test_a_cut_holds_back_the_bytes_of_its_links_only(kind: Kind, amount: float, cut: set[str], played: Any) -> None:
    def scenario(play: Play) -> None:
        assert play.during(kind, play.cut_links, amount) == cut

    played(scenario)


def test_connections_are_slow_reset_and_refused(played: Any) -> None:
    def scenario(play: Play) -> None:
        play.listen()
        link, first = play.world.network.link("clients", "broker-1"), play.connects()
        assert first.is_connected
        assert play.during(Kind.SLOW, lambda: link.extra_ns) == int(SECOND * 3e9)
        assert link.extra_ns == 0
        play.during(Kind.RESET, lambda: None, amount=0.997)
        assert first.was_reset
        assert play.during(Kind.REFUSE, lambda: play.connects().error) == errno.ECONNREFUSED
        assert play.connects().is_connected

    played(scenario)


def test_wall_clocks_jump_on_the_broker_or_on_the_clients(played: Any) -> None:
    def scenario(play: Play) -> None:
        play.faults.apply(Fault(Kind.JUMP, 1.0, 1.0, SECOND))
        assert (play.second.machine.wall_offset_ns, play.clients.wall_offset_ns) == (pytest.approx(1e12), 0)
        play.faults.apply(Fault(Kind.JUMP_CLIENTS, 1.0, 1.0, 0.1))
        assert play.clients.wall_offset_ns == pytest.approx(-2e12)

    played(scenario)


def test_a_disk_fails_until_the_broker_is_started_again(played: Any) -> None:
    def scenario(play: Play) -> None:
        disk, before = play.second.machine.disk.faults, play.second.process
        assert play.during(Kind.FULL, lambda: disk.free_bytes) == 40_000
        assert play.during(Kind.EIO, lambda: disk.failing_write) == 81
        assert play.second.process is not before

    played(scenario)


def test_a_broker_runs_out_of_descriptors_and_of_memory(played: Any) -> None:
    def scenario(play: Play) -> None:
        before = play.second.process
        play.during(Kind.MEMORY, lambda: None)
        assert play.second.process is before, "it retries"
        play.during(Kind.DESCRIPTORS, lambda: None)
        assert play.second.process is not before, "it may have stopped"

    notes = played(scenario)
    assert any(f"may open {int(SECOND * FEW_DESCRIPTORS)} more descriptors" in note for note in notes)
    assert [note.partition(" of more")[0].rpartition("broker-1")[2] for note in notes if "gets no block" in note]
    assert any("has no limit of memory" in note for note in notes)


class Replicated:
    """A committed batch of t-0 on the second broker, in the ISR of which are the brokers of ``isr``."""

    def __init__(self, play: Play, isr: str) -> None:
        builder = MemoryRecordsBuilder(2, CompressionType.NONE, base_offset=0)
        builder.append(1000, b"key", b"value")
        self.good = bytes(builder.build())
        folder = play.second.machine.folder / "data" / "t-0"
        folder.mkdir(parents=True)
        self.segment = folder / "00000000000000000000.log"
        self.segment.write_bytes(self.good)
        replica = SimpleNamespace(log=object(), high_watermark=SimpleNamespace(message_offset=1))
        partition = SimpleNamespace(topic_partition=TopicPartition("t", 0), get_replica=lambda: replica)
        play.second.sees = SimpleNamespace(replica_manager=SimpleNamespace(partitions=[partition]))
        tree = SimpleNamespace(get_data=lambda path: (f'{{"isr":{isr}}}', None))
        server = SimpleNamespace(database=SimpleNamespace(tree=tree))
        play.zookeeper.sees = SimpleNamespace(_factory=SimpleNamespace(_server=server))


def test_a_bit_of_a_committed_batch_reads_wrong_for_a_while(played: Any) -> None:
    def scenario(play: Play) -> None:
        replica = Replicated(play, isr="[0,1,2]")
        wrong = play.during(Kind.FLIP, replica.segment.read_bytes)
        differing = [one ^ other for one, other in zip(wrong, replica.good, strict=True) if one != other]
        assert [bits.bit_count() for bits in differing] == [1]
        assert replica.segment.read_bytes() == replica.good
        assert play.history.excused == set()

    played(scenario)


def test_a_batch_with_a_flipped_bit_is_not_flipped_again(played: Any) -> None:
    def scenario(play: Play) -> None:
        Replicated(play, isr="[0,1,2]")

        def second_flip() -> float:
            began = play.world.now_s
            play.faults.apply(Fault(Kind.FLIP, LASTS_S, 1.0, SECOND))
            return play.world.now_s - began

        assert play.during(Kind.FLIP, second_flip) == 0

    played(scenario)


@pytest.mark.parametrize(("isr", "excused"), [("[0,1]", {("t", 0)}), ("[0,2]", set())])
def test_a_partition_is_excused_if_its_broker_starts_again_in_sync(
    isr: str, excused: set[tuple[str, int]], played: Any
) -> None:
    def scenario(play: Play) -> None:
        Replicated(play, isr)

        def restart() -> None:
            play.second.kill()
            play.second.start()

        play.during(Kind.FLIP, restart)
        assert play.history.excused == excused

    played(scenario)


def test_bits_of_compacted_topics_do_not_flip(played: Any) -> None:
    def scenario(play: Play) -> None:
        replica = Replicated(play, isr="[0,1,2]")
        play.history.compacted.add("t")
        before = play.world.now_s
        play.faults.apply(Fault(Kind.FLIP, LASTS_S, 1.0, SECOND))
        assert (play.world.now_s, replica.segment.read_bytes()) == (before, replica.good)

    played(scenario)
