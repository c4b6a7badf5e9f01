"""Recorded runs of the old producer: collation, the queue and its thread, a leader that moved, a late response.

Book 2.2. The two brokers of these runs are clusters of their own, each with the whole topic, so that a leader moves
exactly when the run wants it to. Which of them leads a partition is only what the producer is told. Everything else is
real.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from kafka_learn.recording.broker_watches import watch_wire
from kafka_learn.recording.recorded_run import Detail, Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import AS_IN_KAFKA, TOPIC, in_thread, recorded_in_time, wait_until
from kafka_learn.recording.watches import watch, watch_queue
from kafka_lite.common.errors import Errors
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.log.log import Log
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.old_producer.broker_partition_info import BrokerPartitionInfo
from kafka_lite.old_producer.default_event_handler import DefaultEventHandler, failed_partitions
from kafka_lite.old_producer.encoder import DefaultEncoder
from kafka_lite.old_producer.keyed_message import SerializedMessage
from kafka_lite.old_producer.partitioner import DefaultPartitioner
from kafka_lite.old_producer.producer_config import ProducerConfig
from kafka_lite.old_producer.producer_pool import ProducerPool
from kafka_lite.old_producer.producer_send_thread import ProducerSendThread
from kafka_lite.old_producer.sync_producer import SyncProducer
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.record.records import batches
from kafka_lite.testing.cluster import Cluster

PARTITIONS = 4
COLLATION_LANES = (
    "caller",
    "Producer",
    "DefaultEventHandler",
    "SyncProducer",
    "Processor",
    "KafkaRequestHandler",
    "Log",
)
QUEUE_LANES = ("caller", "Producer", "ProducerSendThread", "DefaultEventHandler", "SyncProducer", "Processor", "Log")
RETRY_LANES = (
    "caller",
    "DefaultEventHandler",
    "BrokerPartitionInfo",
    "SyncProducer",
    "Processor",
    "KafkaRequestHandler",
    "Log",
)
CHANNEL_LANES = ("caller", "SyncProducer", "BlockingChannel", "Acceptor", "Processor", "KafkaRequestHandler", "Log")
QUEUE_TIME_MS = 150
BATCH_MESSAGES = 3
BACKOFF_MS = 30
REQUEST_TIMEOUT_MS = 300
LATE_MS = 500
"""When a response arrives: after the producer has given it up."""


# ── two brokers ─────────────────────────────────────────────────────────────────────────────────────────────────────


class ToldLeaders(BrokerPartitionInfo):
    """The producer's metadata: ``leaders`` has the leader of every partition for each metadata request."""

    def __init__(
        self, config: ProducerConfig, pool: ProducerPool, ports: Sequence[int], leaders: Sequence[str]
    ) -> None:
        super().__init__(config, pool)
        self._leaders_pool = pool
        self._brokers = [MetadataResponseBroker(node_id=n, host="127.0.0.1", port=port) for n, port in enumerate(ports)]
        self._leaders = list(leaders)

    def update_info(self, topics: Collection[str]) -> None:
        """The next of them, or the last again."""
        leaders = self._leaders.pop(0) if len(self._leaders) > 1 else self._leaders[0]
        partitions = [
            MetadataResponsePartition(partition_index=number, leader_id=int(leader))
            for number, leader in enumerate(leaders)
        ]
        for topic in topics:
            self._topics[topic] = MetadataResponseTopic(name=topic, partitions=partitions)
        self._leaders_pool.update_producer(self._brokers)


@contextmanager
def running_producer(
    clusters: Sequence[Cluster], leaders: Sequence[str], configs: Mapping[str, object] | None = None
) -> Iterator[Producer]:
    """A producer that has sent a message to every partition, and so is connected."""
    first = clusters[0].bootstrap_servers
    settings = {"metadata.broker.list": first, "request.required.acks": "1", "retry.backoff.ms": BACKOFF_MS}
    config = ProducerConfig({**settings, **(configs or {})})
    pool, encoder = ProducerPool(config), DefaultEncoder({})
    handler = DefaultEventHandler(config, DefaultPartitioner({}), encoder, encoder, pool)
    ports = [int(cluster.bootstrap_servers.rpartition(":")[2]) for cluster in clusters]
    handler._broker_partition_info = ToldLeaders(config, pool, ports, leaders)
    handler.handle([message(number, b"first") for number in range(PARTITIONS)])
    with Producer(config.originals, handler) as producer:
        yield producer


@contextmanager
def two_brokers() -> Iterator[list[Cluster]]:
    """Both have the whole topic."""
    with ExitStack() as running:
        clusters = [running.enter_context(Cluster(AS_IN_KAFKA)) for _ in range(2)]
        for cluster in clusters:
            cluster.create_topic(TOPIC, PARTITIONS)
        yield clusters


def message(key: int, value: bytes | None = None) -> KeyedMessage:
    """A message that goes to partition ``key`` modulo their number; by default its value says so."""
    return KeyedMessage(TOPIC, b"m%d" % key if value is None else value, part_key=key)


# ── watches ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def handler_watches() -> list[Watch]:
    """From ``handle`` to the broker's log."""
    return [
        *watch(DefaultEventHandler.handle, show=lambda call: _values(call.argument("events"))),
        *watch(DefaultEventHandler.partition_and_collate, show=lambda call: _values(call.argument("messages"))),
        *watch(DefaultEventHandler._send, show=_request),
        *watch(SyncProducer.send, show=()),
        *watch(Log.append_as_leader, show=_appended),
        *watch_wire(),  # last, so that a response arrives before the call that waited for it ends
    ]


def _values(messages: Sequence[KeyedMessage] | Sequence[SerializedMessage]) -> Detail:
    texts = (each.message if isinstance(each, KeyedMessage) else each.value for each in messages)
    return {"messages": " ".join(bytes(text or b"").decode() for text in texts)}


def _request(call: Call) -> Detail:
    """The messages to one broker: ``m0 m4 → demo-0``."""
    parts = (f"{partition}: {_values(messages)['messages']}" for partition, messages in _by_partition(call).items())
    return {"broker": call.argument("broker_id"), "sends": "; ".join(parts)}


def _by_partition(call: Call) -> Mapping[object, Sequence[SerializedMessage]]:
    found: Mapping[object, Sequence[SerializedMessage]] = call.argument("by_partition")
    return found


def _note_failed(call: Call) -> None:
    if call.result:
        names = ", ".join(map(str, call.result))
        call.emit(Kind.NOTE, "DefaultEventHandler", f"failed: {names}")


def _appended(call: Call) -> Detail:
    records = (record for batch in batches(call.argument("records")) for record in batch.records())
    values = " ".join(bytes(record.value or b"").decode() for record in records)
    return {"partition": str(call.subject.topic_partition), "values": values}


# ── the runs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def collated() -> RecordedRun:
    """Six messages in one call, four partitions, two brokers: two requests."""
    with (
        Recording(
            handler_watches(), watch(Producer.send, show=()), title="Collated by broker and partition", paused=True
        ) as recording,
        two_brokers() as clusters,
        running_producer(clusters, ["0101"]) as producer,
        recording.running(),
    ):
        in_thread("caller", lambda: producer.send(*map(message, range(6))))
        recording.pause()
    return recording.run.recorded_in(__name__, "collated", lanes=COLLATION_LANES)


def queued() -> RecordedRun:
    """An asynchronous producer: three messages fill a batch; the fourth waits for the end of the queue's time."""
    return recorded_in_time(_record_queued, lambda run: _reasons(run) == ["batch full", "queue time reached"])


def _reasons(run: RecordedRun) -> list[object]:
    return [event.detail["reason"] for event in run if event.kind is Kind.CALL and event.what == "_hand_on"]


def _record_queued() -> RecordedRun:
    watches = (
        handler_watches(),
        watch(Producer.send, show=()),
        watch_queue("queue", Producer._enqueue, queue.Queue.get),
        watch(ProducerSendThread._hand_on, show=("reason",)),
    )
    configs = {
        "producer.type": "async",
        "batch.num.messages": BATCH_MESSAGES,
        "queue.buffering.max.ms": QUEUE_TIME_MS,
    }
    with (
        Recording(*watches, title="The queue of an asynchronous producer", paused=True) as recording,
        two_brokers() as clusters,
        running_producer(clusters, ["0000"], configs) as producer,
    ):
        _await_idle_turn(producer)
        with recording.running():
            in_thread("caller", lambda: _send_apart(producer))
            recording.wait_for("ProducerSendThread._hand_on", 4)
            recording.pause()
    return recording.run.recorded_in(__name__, "queued", lanes=QUEUE_LANES)


def _await_idle_turn(producer: Producer) -> None:
    """Wait until the thread has handled an empty batch, so that the queue's whole time lies ahead."""
    thread = producer._send_thread
    assert thread is not None
    before_ms = thread._last_send_ms
    wait_until(lambda: thread._last_send_ms > before_ms)


def _send_apart(producer: Producer) -> None:
    """One message more than fits into a batch, each by a call of its own."""
    for number in range(BATCH_MESSAGES + 1):
        producer.send(message(0, b"m%d" % number))


def leader_moved() -> RecordedRun:
    """Broker 0 does not lead partition 1 any more: its messages are sent again, to the new leader."""
    update = watch(ToldLeaders.update_info, show=("topics",), who="BrokerPartitionInfo")
    failed = Watch.of(failed_partitions, after=_note_failed)
    with (
        quiet("kafka_lite.old_producer", below=logging.ERROR),
        Recording(handler_watches(), update, failed, title="A leader has moved", paused=True) as recording,
        two_brokers() as clusters,
        running_producer(clusters, ["0000", "0100"]) as producer,
        clusters[0].inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).for_topic(TOPIC, 1).always(),
        recording.running(),
    ):
        in_thread("caller", lambda: producer.send(*map(message, (0, 1, 5))))
        recording.pause()
    return recording.run.recorded_in(__name__, "leader_moved", lanes=RETRY_LANES)


def late_response() -> RecordedRun:
    """The response comes after ``request.timeout.ms``: the connection is closed, and the message is sent again."""
    return recorded_in_time(_record_late_response, lambda run: _appends(run) == 2)


def _appends(run: RecordedRun) -> int:
    return sum(event.kind is Kind.CALL and event.what == "append_as_leader" for event in run)


def _record_late_response() -> RecordedRun:
    watches = (
        watch(SyncProducer.send, BlockingChannel.connect, BlockingChannel.receive, BlockingChannel.close, show=()),
        watch(Log.append_as_leader, show=_appended),
        watch_wire(),
    )
    with (
        quiet("kafka_lite.old_producer", below=logging.ERROR),
        Recording(*watches, title="A response that arrives late", paused=True) as recording,
        two_brokers() as clusters,
        running_producer(clusters, ["0000"], {"request.timeout.ms": REQUEST_TIMEOUT_MS}) as producer,
        clusters[0].inject("Produce").delay_response(LATE_MS).once(),
        recording.running(),
    ):
        in_thread("caller", lambda: producer.send(message(0)))
        SYSTEM_TIME.sleep(LATE_MS)  # until the late response has arrived
        recording.pause()
    return recording.run.recorded_in(__name__, "late_response", lanes=CHANNEL_LANES)


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "collated": collated,
    "queued": queued,
    "leader-moved": leader_moved,
    "late-response": late_response,
}
