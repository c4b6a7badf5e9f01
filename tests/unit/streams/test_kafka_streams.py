"""The states of an instance, as its threads bring them about, and what it allows in each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any

import pytest

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import EMPTY_RECORDS, ConsumerRecords
from kafka_lite.streams.errors import InvalidStateStoreError, TopologyBuilderError
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.state.queryable_store_types import QueryableStoreTypes
from tests.support.eventually import eventually

Action = Callable[[ConsumerRebalanceListener], object]
POLL_S = 0.005
GIVE_UP_S = 60.0


class Client:
    """A consumer or producer of an application whose topics are empty. A test acts in its polls."""

    listener: ConsumerRebalanceListener

    def __init__(self, name: str, calls: list[str]) -> None:
        self.name, self._calls = name, calls
        self._actions: Queue[tuple[Action, Event]] = Queue()

    def subscribe(self, _: object, listener: ConsumerRebalanceListener) -> None:
        self.listener = listener
        self._calls.append(f"{self.name} subscribes")

    def poll(self, _: float) -> ConsumerRecords:
        try:
            action, done = self._actions.get(timeout=POLL_S)
        except Empty:
            return EMPTY_RECORDS
        try:
            action(self.listener)
        finally:
            done.set()
        return EMPTY_RECORDS

    def do(self, action: Action) -> None:
        """Act in the next poll, in the thread of the client, and wait for the end of it."""
        done = Event()
        self._actions.put((action, done))
        assert done.wait(GIVE_UP_S), "the thread does not poll"

    def close(self) -> None:
        self._calls.append(f"{self.name} closed")

    # ── of a global thread ────────────────────────────────────────────────────────────────────────────────────────────

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        return [PartitionInfo(topic, 0, None)]

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        self._calls.append(f"{self.name} restores")
        self.listener = ConsumerRebalanceListener()
        return dict.fromkeys(partitions, 0)

    def position(self, _: TopicPartition) -> int:
        return 0

    def assign(self, *_: object) -> None:
        """There is one partition, and nothing in it."""

    unsubscribe = seek_to_beginning = seek = assign


class Clients:
    """Makes the clients of an instance. ``members`` are the consumers of its threads."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.members: list[Client] = []
        self.global_consumer: Client | None = None
        self.most_members = 9

    def get_consumer(self, _: Mapping[str, object]) -> Client:
        if len(self.members) == self.most_members:
            raise OSError("too many open files")
        self.members.append(Client(f"member {len(self.members) + 1}", self.calls))
        return self.members[-1]

    def get_restore_consumer(self, config: Mapping[str, object]) -> Client:
        client = Client("global" if "-global-" in str(config["client.id"]) else "restorer", self.calls)
        if client.name == "global":
            self.global_consumer = client
        return client

    def get_producer(self, _: Mapping[str, object]) -> Client:
        return Client("producer", self.calls)


def streams_of(
    builder: KStreamBuilder, state_dir: Path, num_stream_threads: int = 1, clients: Clients | None = None
) -> KafkaStreams:
    configs = {"application.id": "app", "bootstrap.servers": "127.0.0.1:1", "state.dir": str(state_dir)}
    supplier: Any = clients
    return KafkaStreams(builder, {**configs, "num.stream.threads": num_stream_threads}, supplier)


def revoke(listener: ConsumerRebalanceListener) -> None:
    listener.on_partitions_revoked([])


def assign(listener: ConsumerRebalanceListener) -> None:
    listener.on_partitions_assigned([])


def fail(_: ConsumerRebalanceListener) -> None:
    raise ValueError("no")


class Instance:
    """An instance that has been started, with two threads and a global one."""

    def __init__(self, state_dir: Path) -> None:
        self.clients = Clients()
        builder = KStreamBuilder()
        builder.stream("in")
        builder.global_table("places", "Places")
        self.streams = streams_of(builder, state_dir, 2, self.clients)
        self.seen: list[tuple[State, State]] = []
        self.errors: list[tuple[Thread, Exception]] = []
        self.streams.set_state_listener(lambda new, old: self.seen.append((new, old)))
        self.streams.set_uncaught_exception_handler(lambda thread, error: self.errors.append((thread, error)))
        self.streams.start()
        for member in self.clients.members:
            member.do(lambda _: None)  # all threads run

    def move(self, number: int, *actions: Action) -> State:
        """Let the consumer of a thread act, and return the state of the instance after that."""
        for action in actions:
            self.clients.members[number].do(action)
        return self.streams.state

    def kill(self, client: Client | None) -> State:
        """End a thread by an error, and return the state of the instance after that."""
        assert client is not None
        before = len(self.errors)
        client.do(fail)
        eventually(lambda: len(self.errors) > before, "the end of the thread")
        return self.streams.state


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    made = Instance(tmp_path)
    yield made
    made.streams.close()
    assert made.streams.state is State.NOT_RUNNING


def test_an_instance_rebalances_until_all_threads_have_their_tasks(instance: Instance) -> None:
    assert instance.streams.state is State.RUNNING
    assert instance.move(0, assign) is State.RUNNING
    assert instance.seen == [
        (State.RUNNING, State.CREATED),
        (State.REBALANCING, State.RUNNING),  # a thread that had nothing is not revoked anything
        (State.RUNNING, State.REBALANCING),
    ]
    assert [instance.move(number, revoke) for number in (0, 1)] == [State.REBALANCING] * 2
    assert instance.move(0, assign) is State.REBALANCING
    assert instance.move(1, assign) is State.RUNNING


def test_an_instance_fails_with_its_last_thread_and_can_still_be_closed(instance: Instance) -> None:
    first, second = instance.clients.members
    assert instance.kill(first) is State.RUNNING
    assert instance.kill(second) is State.ERROR
    assert instance.streams.close()
    assert instance.streams.state is State.NOT_RUNNING


def test_an_instance_fails_with_its_global_thread(instance: Instance) -> None:
    assert instance.clients.global_consumer is not None
    instance.clients.global_consumer.do(fail)
    eventually(lambda: instance.streams.state is State.ERROR)


def test_the_error_of_a_thread_goes_to_the_handler_after_its_clients_are_closed(instance: Instance) -> None:
    instance.kill(instance.clients.members[1])
    [(thread, error)] = instance.errors
    assert (thread.name, repr(error)) == ("StreamThread-2", "ValueError('no')")
    assert instance.clients.calls[-3:] == ["producer closed", "member 2 closed", "restorer closed"]


def test_closing_waits_no_longer_than_it_may_and_says_whether_all_threads_have_ended(instance: Instance) -> None:
    release, reached = Event(), Event()

    def hold(_: ConsumerRebalanceListener) -> None:
        reached.set()
        release.wait(GIVE_UP_S)

    stuck = Thread(target=instance.clients.members[1].do, args=[hold])
    stuck.start()
    assert reached.wait(GIVE_UP_S)
    assert not instance.streams.close(timeout_ms=20)
    assert instance.streams.close(), "a no-op"
    assert [new for new, _ in instance.seen].count(State.NOT_RUNNING) == 1
    with pytest.raises(RuntimeError, match="Cannot start again"):
        instance.streams.start()
    release.set()
    stuck.join()
    eventually(lambda: "member 2 closed" in instance.clients.calls)


def test_a_thread_that_closes_its_instance_does_not_wait_for_itself(instance: Instance) -> None:
    closed: list[bool] = []
    instance.move(0, lambda _: closed.append(instance.streams.close()))
    assert closed == [True]


def test_while_an_instance_rebalances_stores_are_unavailable_and_nothing_is_cleaned(instance: Instance) -> None:
    instance.move(0, revoke)
    with pytest.raises(InvalidStateStoreError, match=r"Counts, is currently unavailable: .* PARTITIONS_REVOKED"):
        instance.streams.store("Counts", QueryableStoreTypes.key_value_store())
    assert instance.streams.all_metadata() == ()
    with pytest.raises(RuntimeError, match="Cannot clean up while running"):
        instance.streams.clean_up()


def test_an_instance_that_cannot_be_created_closes_the_clients_that_it_has(tmp_path: Path) -> None:
    clients = Clients()
    clients.most_members = 1
    builder = KStreamBuilder()
    builder.stream("in")
    with pytest.raises(OSError, match="too many open files"):
        streams_of(builder, tmp_path, 2, clients)
    assert clients.calls == ["producer closed", "member 1 closed", "restorer closed"]


def test_threads_start_after_global_stores_are_restored_and_end_before_they_are_closed(instance: Instance) -> None:
    instance.streams.close()
    of_consumers = [call for call in instance.clients.calls if call.startswith(("global", "member"))]
    assert of_consumers[0] == "global restores"
    assert sorted(of_consumers[1:3]) == ["member 1 subscribes", "member 2 subscribes"]
    assert sorted(of_consumers[3:5]) == ["member 1 closed", "member 2 closed"]
    assert of_consumers[5:] == ["global closed"]


def test_a_global_table_alone_needs_no_threads(tmp_path: Path) -> None:
    builder, clients = KStreamBuilder(), Clients()
    builder.global_table("places", "Places")
    with streams_of(builder, tmp_path, clients=clients) as streams:
        streams.start()
        assert streams.state is State.RUNNING
    assert (clients.members, clients.calls) == ([], ["global restores", "global closed"])


def test_a_topology_that_reads_nothing_cannot_be_started(tmp_path: Path) -> None:
    with (
        streams_of(KStreamBuilder(), tmp_path) as streams,
        pytest.raises(TopologyBuilderError, match="the topology has no stream or table that reads a topic"),
    ):
        streams.start()
