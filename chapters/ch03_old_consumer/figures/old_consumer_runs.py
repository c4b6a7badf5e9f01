"""Recorded runs of the old consumers: rebalances through ZooKeeper, the way of a message, commits, the low-level API.

Book 3. Real connectors and a real broker. Where the order of two members is left to chance, such as release and
claim, a slow rebalance listener, as a user may have, decides it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from kafka_learn.recording.broker_watches import watch_wire
from kafka_learn.recording.recorded_run import Detail, Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import AS_IN_KAFKA, TOPIC, in_thread, wait_until
from kafka_learn.recording.summaries import Short, summary
from kafka_learn.recording.watches import watch, watch_queue, watch_states
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import Errors
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_offsets import GroupOffsets
from kafka_lite.coordinator.group.offset_cache import OffsetCache
from kafka_lite.log.log import Log
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_fetcher_thread import ConsumerFetcherThread
from kafka_lite.old_consumer.consumer_iterator import ConsumerIterator
from kafka_lite.old_consumer.consumer_offsets import ConsumerOffsets
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.kafka_stream import KafkaStream
from kafka_lite.old_consumer.message_and_metadata import MessageAndMetadata
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk, PartitionTopicInfo
from kafka_lite.old_consumer.rebalance.zk_rebalancer_listener import WatcherExecutorThread, ZKRebalancerListener
from kafka_lite.old_consumer.simple.simple_example import SimpleExample
from kafka_lite.old_consumer.topic_count import ConsumerThreadId
from kafka_lite.old_consumer.zookeeper_consumer_connector import ZookeeperConsumerConnector
from kafka_lite.testing.cluster import Cluster
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups

GROUP_ID = "readers"
PARTITIONS = 4
MESSAGES = 2
"""In each partition."""
BACKOFF_MS = 150
REST_MS = 150
"""How long a group is left alone between two changes of its members."""
WAIT_MS = 60_000
ZOOKEEPER = "ZooKeeper"
WATCHES = "ZooKeeper's watches"
BELL = "the bell rings"
DONE = "done"
REBALANCE_LANES = ("a", ZOOKEEPER, "b")
FETCH_LANES = ("ConsumerFetcherThread", "PartitionTopicInfo", "FetchedDataQueue", "ConsumerIterator", "user")
COMMIT_LANES = ("user", "ConsumerOffsets", "Processor", "GroupOffsets", "OffsetCache", "Log", ZOOKEEPER)
EXAMPLE_LANES = ("user", "SimpleExample", "Processor")


# ── members ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Member:
    """A connector with one stream that a thread reads, named after its ``consumer.id``."""

    def __init__(
        self, cluster: Cluster, name: str, *, until_it_lets_go: Callable[[], bool] = lambda: True, **configs: object
    ) -> None:
        """``until_it_lets_go`` is waited for before partitions are released: the user's code has something to end.

        ``configs`` are keys with underscores in the place of dots.
        """
        self.name = name
        self.consumed: list[tuple[int, int]] = []
        """Partition and offset of each message."""
        self._until_it_lets_go = until_it_lets_go
        self.connector = ZookeeperConsumerConnector(old_config(cluster, name, **configs))
        self.connector.set_consumer_rebalance_listener(self)

    def join(self) -> None:
        """Create the stream, which rebalances for the first time, and read it from now on."""
        streams: list[KafkaStream[bytes, bytes]] = []
        in_thread(self.name, lambda: streams.extend(self.connector.create_message_streams({TOPIC: 1})[TOPIC]))
        threading.Thread(target=self._read, args=streams, name=f"{self.name}'s user", daemon=True).start()

    def _read(self, stream: KafkaStream[bytes, bytes]) -> None:
        for message in stream:
            self.consumed.append((message.partition, message.offset))

    def before_releasing_partitions(self, partition_ownership: Mapping[str, set[int]]) -> None:  # noqa: ARG002
        """Wait for the user's code."""
        wait_until(self._until_it_lets_go, WAIT_MS)

    def before_starting_fetchers(
        self, consumer_id: str, partition_assignment: Mapping[str, Mapping[int, ConsumerThreadId]]
    ) -> None:
        """Nothing to prepare."""

    @property
    def owned(self) -> list[int]:
        """The numbers of the partitions that it owns."""
        return sorted(info.partition_id for info in self.connector.load_balancer_listener.owned_partitions())


def old_config(cluster: Cluster, name: str, **configs: object) -> ConsumerConfig:
    """The configuration of a consumer that begins with the first message, and commits only where a run wants it."""
    settings: dict[str, object] = {
        "zookeeper.connect": cluster.zookeeper_connect, "group.id": GROUP_ID, "consumer.id": name,
        "client.id": name, "auto.offset.reset": "smallest", "auto.commit.interval.ms": 600_000,
        "rebalance.backoff.ms": BACKOFF_MS, "rebalance.max.retries": 50, "refresh.leader.backoff.ms": 20,
    }  # fmt: skip
    return ConsumerConfig(settings | {key.replace("_", "."): value for key, value in configs.items()})


@contextmanager
def running_cluster(partitions: int = PARTITIONS) -> Iterator[Cluster]:
    """A broker with the topic, and two messages in each partition."""
    with Cluster({**AS_IN_KAFKA, "offsets.topic.num.partitions": "1"}) as cluster:
        cluster.create_topic(TOPIC, partitions)
        for partition in range(partitions):
            for number in range(MESSAGES):
                cluster.produce(TOPIC, f"m{number}".ljust(80, "."), partition=partition)
        yield cluster


def wait_balanced(members: Sequence[Member]) -> None:
    """Wait until every partition has one owner and is consumed to its end."""
    wait_until(lambda: sorted(number for each in members for number in each.owned) == list(range(PARTITIONS)), WAIT_MS)
    wait_until(lambda: all(_has_consumed_all(each) for each in members), WAIT_MS)


def _has_consumed_all(member: Member) -> bool:
    infos = member.connector.load_balancer_listener.owned_partitions()
    return all(info.consume_offset == MESSAGES for info in infos)


def znodes(cluster: Cluster) -> dict[str, str]:
    """All znodes of the group with data, without their times."""
    with ExitStack() as stack:
        connector = ZookeeperConsumerConnector(old_config(cluster, "onlooker", group_id="onlookers"))
        stack.callback(connector.shutdown)
        groups = connector._groups
        found = {}
        for name, registration in sorted(groups.get_registrations(GROUP_ID).items()):
            found[f"ids/{name}"] = f"{registration.pattern}: {dict(registration.subscription)}"
        for number in range(PARTITIONS):
            found[f"owners/{TOPIC}/{number}"] = groups.get_owner(GROUP_ID, TopicPartition(TOPIC, number)) or ""
        for number in range(PARTITIONS):
            offset = groups.get_offset(GROUP_ID, TopicPartition(TOPIC, number))
            found[f"offsets/{TOPIC}/{number}"] = "" if offset is None else str(offset)
        return {path: data for path, data in found.items() if data}


QUIET = "kafka_lite.old_consumer"
"""The logger that warns of the failures that the runs cause on purpose."""


# ── watches ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def rebalance_watches() -> list[Watch]:
    """The members' work, each in a lane of its own, and their reads and writes in ZooKeeper."""
    listener = ZKRebalancerListener
    return [
        Watch.of(WatcherExecutorThread.trigger, before=_bell),
        *watch(listener._try_rebalance, listener._close_fetchers, listener._update_fetcher, show=(), who=_member),
        Watch.of(listener._try_rebalance, after=_outcome),
        *watch(ConsumerGroups.register_consumer, show=("consumer",), who=ZOOKEEPER),
        *watch(ConsumerGroups.get_consumers_in_group, show=(), who=ZOOKEEPER),
        *watch(ConsumerGroups.create_owner, ConsumerGroups.release_owner, show=_owner, who=ZOOKEEPER),
        *watch(ConsumerGroups.set_offset, show=_offset, who=ZOOKEEPER),
        Watch.of(ZookeeperConsumerConnector.shutdown, after=_left),
    ]


def _member(call: Call) -> str:
    return str(call.subject._consumer_id).removeprefix(f"{GROUP_ID}_")


def _bell(call: Call) -> None:
    name = call.subject.name.removeprefix(f"{GROUP_ID}_").removesuffix("_watcher_executor")
    call.emit(Kind.NOTE, name, BELL)


def _outcome(call: Call) -> None:
    call.emit(Kind.NOTE, _member(call), DONE if call.result else "in vain: once more")


def _left(call: Call) -> None:
    call.emit(Kind.NOTE, call.subject.config["consumer.id"], "has left")


def _owner(call: Call) -> Detail:
    thread = str(call.argument("thread_id")).removeprefix(f"{GROUP_ID}_")
    return {"partition": call.argument("partition").partition, "owner": thread}


def _offset(call: Call) -> Detail:
    return {"partition": str(call.argument("partition")), "offset": call.argument("offset")}


# ── rebalances ──────────────────────────────────────────────────────────────────────────────────────────────────────


def rebalance() -> RecordedRun:
    """Member a has four partitions; b joins, claims two of them too early, and has them at its second try.

    b's second try waits until a has ended its own: a might have released only one of the two.
    """
    with (
        quiet(QUIET),
        Recording(rebalance_watches(), title="A rebalance with two members", paused=True) as recording,
        running_cluster() as cluster,
        running_members() as members,
    ):
        members.append(Member(cluster, "a", until_it_lets_go=lambda: not members[1:] or _has_failed(recording)))
        members[0].join()
        wait_balanced(members)
        members.append(
            Member(cluster, "b", until_it_lets_go=lambda: not _has_failed(recording) or _is_done(recording, "a"))
        )
        with recording.running():
            members[1].join()
            wait_balanced(members)
            recording.pause()
    return _with_named_threads(recording.run).recorded_in(__name__, "rebalance", REBALANCE_LANES)


def _with_named_threads(run: RecordedRun) -> RecordedRun:
    """The thread in which ZooKeeper's client calls back has a number instead of a name."""
    events = (replace(each, thread=WATCHES) if each.what == BELL else each for each in run)
    return replace(run, events=tuple(events), actors={**run.actors, WATCHES: WATCHES})


def _has_failed(recording: Recording) -> bool:
    """Whether a member has failed, and has released what it had claimed."""
    return any(event.what == "_try_rebalance" and event.detail.get("result") is False for event in recording.run)


def _is_done(recording: Recording, member: str) -> bool:
    """Whether a member's rebalance has ended well."""
    return any((event.who, event.what) == (member, DONE) for event in recording.run)


@contextmanager
def running_members() -> Iterator[list[Member]]:
    """A list of members, which leave at the end."""
    members: list[Member] = []
    try:
        yield members
    finally:
        for member in members:
            member.connector.shutdown()


def one_to_three() -> RecordedRun:
    """Three members join, and one leaves: the owners of the four partitions over time."""
    with (
        quiet(QUIET),
        Recording(rebalance_watches(), title="Members come and go", paused=True) as recording,
        running_cluster() as cluster,
        running_members() as members,
        recording.running(),
    ):
        for name in "abc":
            members.append(Member(cluster, name))
            members[-1].join()
            wait_balanced(members)
            SYSTEM_TIME.sleep(REST_MS)
        members.pop(0).connector.shutdown()
        wait_balanced(members)
        SYSTEM_TIME.sleep(REST_MS)
        recording.note("end")
        recording.pause()
    details = (
        "._close_fetchers",
        "._update_fetcher",
        ".get_consumers_in_group",
        ".set_offset",
        f".{BELL}",
        f".{DONE}",
    )
    return recording.run.without(*details).recorded_in(__name__, "one_to_three", ("a", "b", "c"))


# ── the way of a message ────────────────────────────────────────────────────────────────────────────────────────────


@summary.register
def _(value: FetchedDataChunk) -> Short:
    return f"chunk from offset {value.fetch_offset} on"


@summary.register(MessageAndMetadata)
def _(value: MessageAndMetadata[object, object]) -> Short:
    return f"the message of offset {value.offset}"


def fetch_watches() -> list[Watch]:
    """From the fetcher through the queue to the user, with both offsets of the partition."""
    return [
        *watch(ConsumerFetcherThread.fetch, show=_asked),
        *watch(ConsumerFetcherThread.process_partition_data, show=("fetch_offset",)),
        *watch(PartitionTopicInfo.enqueue, show=()),
        *watch_queue("queue", FetchedDataQueue.put, FetchedDataQueue.take),
        *watch(ConsumerIterator.__next__, show=()),
        *watch_states(PartitionTopicInfo, "_fetched_offset"),
        *watch_states(PartitionTopicInfo, "_consumed_offset"),
    ]


def _asked(call: Call) -> Detail:
    return {"from_offset": call.argument("request").offset(TopicPartition(TOPIC, 0))}


def queue_and_iterator() -> RecordedRun:
    """Two messages, a queue with room for one chunk, and fetches that bring one message: the fetcher has to wait."""
    with (
        Recording(fetch_watches(), title="From the fetcher to the user", paused=True) as recording,
        running_cluster(partitions=1) as cluster,
        ExitStack() as stack,
        recording.running(),
    ):
        settings = {"queued_max_message_chunks": 1, "fetch_message_max_bytes": 130}
        connector = ZookeeperConsumerConnector(old_config(cluster, "a", **settings))
        stack.callback(connector.shutdown)
        (stream,) = connector.create_message_streams({TOPIC: 1})[TOPIC]
        wait_until(lambda: _enqueues(recording) == MESSAGES, WAIT_MS)
        SYSTEM_TIME.sleep(REST_MS)
        in_thread("user", lambda: [next(iter(stream)) for _ in range(MESSAGES)])
        recording.pause()
    run = _without_last_fetch(recording.run)
    events = tuple(
        replace(event, what=event.what.lstrip("_") if event.kind is Kind.STATE else event.what) for event in run
    )
    changes = replace(run, events=events).where(lambda event: event.detail.get("before", 0) is not None)
    return changes.recorded_in(__name__, "queue_and_iterator", FETCH_LANES)


def _enqueues(recording: Recording) -> int:
    return sum(event.kind is Kind.CALL and event.what == "enqueue" for event in recording.run)


def _without_last_fetch(run: RecordedRun) -> RecordedRun:
    """The run without the fetch that waits at the end of the log."""
    vain = {event.number for event in run if event.detail.get("from_offset") == MESSAGES}
    return run.where(lambda event: not event.number or event.number not in vain)


# ── commits ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def commit_watches() -> list[Watch]:
    """A commit on both sides."""
    return [
        *watch(ZookeeperConsumerConnector.commit_offsets, show=(), who="ConsumerConnector"),
        *watch(ConsumerOffsets.commit_offsets, show=_offsets),
        *watch(ConsumerGroups.set_offset, show=_offset, who=ZOOKEEPER),
        *watch(GroupOffsets.handle_commit_offsets, show=()),
        *watch(OffsetCache.prepare_commit, OffsetCache.on_commit_append, show=_offsets),
        *watch(Log.append_as_leader, show=_log),
        *watch_wire(),
    ]


def _offsets(call: Call) -> Detail:
    offsets: Mapping[TopicPartition, Any] = call.argument("offsets")
    return {str(partition): getattr(offset, "offset", offset) for partition, offset in offsets.items()}


def _log(call: Call) -> Detail:
    return {"partition": str(call.subject.topic_partition)}


def commit_to_zookeeper() -> RecordedRun:
    """One message consumed and committed; committed again; another one consumed and committed."""

    def work(connector: ZookeeperConsumerConnector, messages: Iterator[object]) -> None:
        next(messages)
        connector.commit_offsets()
        connector.commit_offsets()
        next(messages)
        connector.commit_offsets()

    run = _record_commits("Commits to ZooKeeper", work)
    return run.recorded_in(__name__, "commit_to_zookeeper", ("user", "ConsumerConnector", "ConsumerOffsets", ZOOKEEPER))


def commit_to_both() -> RecordedRun:
    """One message consumed and committed to Kafka and to ZooKeeper, after the coordinator was looked up again."""

    def work(connector: ZookeeperConsumerConnector, messages: Iterator[object]) -> None:
        next(messages)
        connector._offsets.disconnect()
        connector.commit_offsets()

    return _record_commits("A commit to both storages", work, offsets_storage="kafka").recorded_in(
        __name__, "commit_to_both", COMMIT_LANES
    )


def _record_commits(
    title: str, work: Callable[[ZookeeperConsumerConnector, Iterator[object]], None], **configs: object
) -> RecordedRun:
    with (
        Recording(commit_watches(), title=title, paused=True) as recording,
        running_cluster(partitions=1) as cluster,
        ExitStack() as stack,
    ):
        connector = ZookeeperConsumerConnector(old_config(cluster, "a", auto_commit_enable=False, **configs))
        stack.callback(connector.shutdown)
        (stream,) = connector.create_message_streams({TOPIC: 1})[TOPIC]
        messages = iter(stream)
        messages.has_next()
        connector._fetcher.stop_connections()  # its fetches would distract from the figure's subject
        with recording.running():
            in_thread("user", lambda: work(connector, messages))
            recording.pause()
    return recording.run


# ── the low-level example ───────────────────────────────────────────────────────────────────────────────────────────


def low_level() -> RecordedRun:
    """The book's example reads two messages. Its second fetch is refused once: the broker is no longer the leader."""
    watches = (
        watch(SimpleExample.find_leader, SimpleExample.find_new_leader, SimpleExample.read_offset, show=()),
        watch(SimpleExample.fetch, show=("offset",)),
        watch_wire(),
    )
    with (
        quiet(QUIET),
        Recording(*watches, title="The low-level example", paused=True) as recording,
        running_cluster(partitions=1) as cluster,
    ):
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        example = SimpleExample([BrokerEndPoint(-1, host, int(port))], TopicPartition(TOPIC, 0), retry_backoff_ms=30)

        def consume(record: object) -> None:
            recording.note(f"consumes offset {getattr(record, 'offset', None)}")

        with cluster.inject("Fetch", Errors.NOT_LEADER_OR_FOLLOWER).once(), recording.running():
            in_thread("user", lambda: example.run(MESSAGES, consume))
            recording.pause()
    return recording.run.recorded_in(__name__, "low_level", EXAMPLE_LANES)


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "zookeeper-rebalance": rebalance,
    "zookeeper-members": one_to_three,
    "queue-and-iterator": queue_and_iterator,
    "commit-to-zookeeper": commit_to_zookeeper,
    "commit-to-both": commit_to_both,
    "low-level-example": low_level,
}
