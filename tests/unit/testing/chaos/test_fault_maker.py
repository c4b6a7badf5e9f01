"""Each kind of fault on a cluster that only notes what is done to it: in order, ended, and on one target at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.chaos import fault_maker
from kafka_lite.testing.chaos.fault_maker import FaultMaker
from kafka_lite.testing.chaos.faults import Fault, Kind
from kafka_lite.testing.network.cluster_network import CLIENTS, ZOOKEEPER

TOPICS = [TopicPartition("orders", number) for number in range(2)]


class Noted:
    """Notes every call as ``name.method arguments``."""

    def __init__(self, name: str, done: list[str]) -> None:
        self._name, self._done = name, done

    def __getattr__(self, method: str) -> Any:
        def call(*arguments: object, **options: object) -> None:
            words = [*map(str, arguments), *(f"{key}={value}" for key, value in options.items())]
            self._done.append(" ".join([f"{self._name}.{method}", *words]))

        return call


class Broker(Noted):
    def __init__(self, number: int, done: list[str]) -> None:
        super().__init__(f"b{number}", done)
        self.id, self.pid = number, 1 << 22  # no such process
        self.is_running = self.is_wanted = True


class Network(Noted):
    def _during(self, what: str) -> contextlib.AbstractContextManager[None]:
        @contextlib.contextmanager
        def fault() -> Iterator[None]:
            self._done.append(f"{what} begins")
            yield
            self._done.append(f"{what} ends")

        return fault()

    def cut(self, first: object, second: object, *, one_way: bool) -> contextlib.AbstractContextManager[None]:
        return self._during(f"cut {first} {second}{' one way' if one_way else ''}")

    def isolate(self, machine: int) -> contextlib.AbstractContextManager[None]:
        return self._during(f"isolate {machine}")

    def slow(self, first: int, second: int, **_: float) -> contextlib.AbstractContextManager[None]:
        return self._during(f"slow {first} {second}")


class Cluster(Noted):
    def __init__(self, done: list[str]) -> None:
        super().__init__("cluster", done)
        self.brokers = [Broker(number, done) for number in range(3)]
        self.network: Any = Network("network", done)
        self.busy: set[object] = set()
        self.controller_id: int | None = 1
        self.isrs: list[dict[TopicPartition, list[int]] | Exception] = [{TOPICS[0]: [0, 1, 2]}]
        self.zookeeper: Any = SimpleNamespace(isrs=self._isrs, expire_broker=self._expire)
        self.refusal: Exception | None = None

    def controller_if_any(self) -> Broker | None:
        return None if self.controller_id is None else self.brokers[self.controller_id]

    @contextlib.contextmanager
    def holding(self, machine: object) -> Iterator[bool]:
        yield machine not in self.busy

    @contextlib.contextmanager
    def client(self, _controller: Broker) -> Iterator[Any]:
        if self.refusal is not None:
            raise self.refusal
        yield Noted("admin", self._done)

    def _isrs(self) -> dict[TopicPartition, list[int]]:
        found = self.isrs.pop(0) if len(self.isrs) > 1 else self.isrs[0]
        if isinstance(found, Exception):
            raise found
        return found

    def _expire(self, broker_id: int) -> bool:
        self._done.append(f"expire {broker_id}")
        return self.brokers[broker_id].is_running


class Clients(Noted):
    def __init__(self, done: list[str]) -> None:
        super().__init__("clients", done)
        self.free = True

    def take(self, *, is_producer: bool, amount: float) -> Any:
        client = Noted("producer" if is_producer else "consumer", self._done)
        client.name = client._name  # type: ignore[attr-defined]
        return client if self.free else None

    def replace(self, client: Noted) -> None:
        self._done.append(f"replace {client._name}")

    def give_back(self, client: Noted) -> None:
        self._done.append(f"give back {client._name}")


class Waits(threading.Event):
    """Notes the waits, and returns at once."""

    def __init__(self, done: list[str]) -> None:
        super().__init__()
        self.done = done

    def wait(self, timeout: float | None = None) -> bool:
        self.done.append("wait")
        return self.is_set()


class World:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.cluster, self.clients = Cluster(self.done), Clients(self.done)
        maker: Any = FaultMaker
        self.maker = maker(self.cluster, self.clients, TOPICS)
        self.maker.is_over = Waits(self.done)

    def apply(self, kind: Kind, amount: float = 0.4) -> str:
        target: str = self.maker.apply(Fault(1, kind, 0.01, 0.0, amount))
        return target


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize(
    ("kind", "target", "done"),
    [
        (Kind.KILL, "broker 1", ["b1.kill", "wait", "b1.start"]),
        (Kind.STOP, "broker 1", ["b1.stop", "wait", "b1.start"]),
        (Kind.PAUSE, "broker 1", ["b1.pause", "wait", "b1.resume"]),
        (Kind.FULL_DISK, "broker 1", ["wait", "b1.kill", "b1.start"]),
        (Kind.ISOLATE, "broker 1", ["isolate 1 begins", "wait", "isolate 1 ends"]),
        (Kind.RESET, "broker 1", ["network.reset 1"]),
        (Kind.EXPIRE_SESSION, "broker 1", ["expire 1"]),
        (Kind.KILL_ZOOKEEPER, "ZooKeeper", ["cluster.stop_zookeeper hard=True", "wait", "cluster.start_zookeeper"]),
        (Kind.STOP_ZOOKEEPER, "ZooKeeper", ["cluster.stop_zookeeper hard=False", "wait", "cluster.start_zookeeper"]),
        (Kind.KILL_PRODUCER, "producer", ["producer.kill", "wait", "replace producer", "give back producer"]),
        (Kind.KILL_CONSUMER, "consumer", ["consumer.kill", "wait", "replace consumer", "give back consumer"]),
        (Kind.PAUSE_CONSUMER, "consumer", ["consumer.pause", "wait", "consumer.resume", "give back consumer"]),
    ],
)
def test_a_fault_begins_lasts_and_ends(world: World, kind: Kind, target: str, done: list[str]) -> None:
    assert (world.apply(kind), world.done) == (target, done)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("amount", [0.0, 0.5, 0.999])
def test_every_kind_can_be_applied_with_every_draw(
    world: World, kind: Kind, amount: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fault_maker, "OUT_OF_ISRS_S", 0.01)
    assert world.apply(kind, amount) != ""


@pytest.mark.parametrize(
    "kind", [Kind.KILL, Kind.STOP, Kind.PAUSE, Kind.LOSE_DISK, Kind.FULL_DISK, Kind.KILL_CONTROLLER]
)
def test_a_broker_that_is_down_or_suffers_already_is_left_alone(world: World, kind: Kind) -> None:
    world.cluster.busy = {1}
    assert (world.apply(kind), world.done) == ("", [])
    world.cluster.busy = set()
    world.cluster.brokers[1].is_running = False
    assert (world.apply(kind), world.done) == ("", [])


@pytest.mark.parametrize("kind", [Kind.KILL_ZOOKEEPER, Kind.STOP_ZOOKEEPER, Kind.EXPIRE_SESSION])
def test_zookeeper_is_left_alone_while_it_restarts(world: World, kind: Kind) -> None:
    world.cluster.busy = {ZOOKEEPER}
    assert (world.apply(kind), world.done) == ("", [])


def test_a_session_that_is_not_there_was_not_expired(world: World) -> None:
    world.cluster.brokers[1].is_running = False
    assert world.apply(Kind.EXPIRE_SESSION) == ""


def test_the_controller_is_killed_or_without_one_any_broker(world: World) -> None:
    assert world.apply(Kind.KILL_CONTROLLER, 0.999) == "broker 1"
    world.cluster.controller_id = None
    assert world.apply(Kind.KILL_CONTROLLER, 0.999) == "broker 2"


@pytest.mark.parametrize(
    ("kind", "ends", "one_way"),
    [
        (Kind.CUT_BROKERS, {"0", "1", "2"}, False),
        (Kind.CUT_BROKERS_ONE_WAY, {"0", "1", "2"}, True),
        (Kind.CUT_ZOOKEEPER, {"0", "1", "2", str(ZOOKEEPER)}, False),
        (Kind.CUT_ZOOKEEPER_ONE_WAY, {"0", "1", "2", str(ZOOKEEPER)}, True),
        (Kind.CUT_CLIENTS, {"0", "1", "2", str(CLIENTS)}, False),
    ],
)
def test_a_cut_is_between_two_machines_and_mended(world: World, kind: Kind, ends: set[str], one_way: bool) -> None:
    target = world.apply(kind)
    begins, wait, ended = world.done
    assert wait == "wait"
    assert begins.removesuffix(" begins") == ended.removesuffix(" ends")
    _, first, second, *way = begins.removesuffix(" begins").split()
    assert {first, second} <= ends
    assert first != second
    assert bool(way) is one_way
    assert (" to " in target) is one_way


@pytest.mark.parametrize(
    "isrs",
    [
        [{TOPICS[0]: [0, 2], TOPICS[1]: [2]}],
        [{TOPICS[0]: [0, 1]}, Errors.NETWORK_EXCEPTION.exception(), {TOPICS[0]: [0]}],
    ],
    ids=["at once", "later"],
)
def test_a_disk_is_lost_once_no_isr_has_the_broker(world: World, isrs: Any) -> None:
    world.cluster.isrs = isrs
    assert world.apply(Kind.LOSE_DISK) == "broker 1"
    assert [each for each in world.done if each != "wait"] == ["b1.kill", "b1.empty_disk", "b1.start"]


def test_a_broker_that_stays_in_an_isr_keeps_its_disk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_maker, "OUT_OF_ISRS_S", 0.01)
    world.apply(Kind.LOSE_DISK)
    assert [each for each in world.done if each != "wait"] == ["b1.kill", "b1.start"]


def test_a_run_that_is_over_waits_for_no_isr(world: World) -> None:
    world.maker.is_over.set()
    world.apply(Kind.LOSE_DISK)
    assert [each for each in world.done if each != "wait"] == ["b1.kill", "b1.start"]


def test_a_client_is_given_back_if_its_fault_fails(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world.clients, "replace", lambda _client: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        world.apply(Kind.KILL_PRODUCER)
    assert world.done[-1] == "give back producer"


def test_without_a_free_client_nothing_is_done(world: World) -> None:
    world.clients.free = False
    assert (world.apply(Kind.PAUSE_CONSUMER), world.done) == ("", [])


def test_a_reassignment_goes_to_the_controller(world: World) -> None:
    target = world.apply(Kind.REASSIGN)
    (done,) = world.done
    assert done.startswith("admin.reassign orders ")
    assert target.startswith("orders-")
    world.cluster.refusal = ConnectionError("it has just gone")
    assert world.apply(Kind.REASSIGN) == ""
    world.cluster.controller_id = None
    assert world.apply(Kind.REASSIGN) == ""
