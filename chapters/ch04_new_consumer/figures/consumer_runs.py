"""Recorded runs of the new consumer: its first poll, polls in a row, futures, heartbeats, commits, two deaths.

Book 4. One partition, whose records the user works on three at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from chapters.ch04_new_consumer.figures import delivery_semantics
from chapters.ch05_coordinator.figures.group_runs import QUIET
from kafka_learn.recording.broker_watches import watch_wire
from kafka_learn.recording.consumer_watches import (
    SUBSCRIPTION,
    offsets_in_words,
    poll_watches,
    watch_deaths,
    watch_futures,
    watch_member_state,
    watch_positions,
)
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import TOPIC, in_thread, recorded_in_time, wait_until
from kafka_learn.recording.watches import watch
from kafka_lite.common.errors import Errors
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.consumer.consumer_errors import CommitFailedError, IllegalConsumerStateError
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.consumer_record import ConsumerRecords
from kafka_lite.consumer.group.abstract_coordinator import AbstractCoordinator
from kafka_lite.consumer.group.committing_member import CommittingMember
from kafka_lite.consumer.group.consumer_coordinator import ConsumerCoordinator
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.consumer.group.offset_committer import OffsetCommitter
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.consumer.timer import Timer
from kafka_lite.testing.cluster import Cluster

PARTITION = TopicPartition(TOPIC, 0)
POLL_MS = 60_000
RECORDS_PER_POLL = 3
HEARTBEAT_MS = 60
WORK_MS = 150
"""Some heartbeats long."""
SHORT_WORK_MS = 60
POLL_INTERVAL_MS = 200
COMMIT_INTERVAL_MS = 40
BROKER = "Processor"
ATTEMPTS = 5
_WIRE = ("connection", "request", "response")


class User:
    """The user of the consumer: polls, and processes what it gets."""

    def __init__(self, recording: Recording, consumer: KafkaConsumer) -> None:
        self._recording = recording
        self.consumer = consumer

    def poll(self) -> ConsumerRecords:
        """The next records; waits until there are some."""
        return self.consumer.poll(POLL_MS)

    def poll_and_work(self, work_ms: float = SHORT_WORK_MS) -> None:
        """One turn of the loop that every user writes."""
        records = list(self.poll())
        self._recording.note(f"works on {offsets_in_words(records)}")
        self.work(work_ms)

    def work(self, work_ms: float) -> None:
        """The user's work."""
        SYSTEM_TIME.sleep(work_ms)

    def commit_sync(self) -> None:
        """Commit what was returned, and wait for it."""
        self.consumer.commit_sync()


@contextmanager
def running_cluster(records: int = 5) -> Iterator[Cluster]:
    """A broker with the topic and some records, and ``__consumer_offsets``, which a first consumer has created."""
    with Cluster({"offsets.topic.num.partitions": "1"}) as cluster:
        cluster.create_topic(TOPIC)
        cluster.produce(TOPIC, *(f"record {offset}" for offset in range(records)))
        with running_consumer(cluster, group_id="first") as first:
            first.subscribe([TOPIC])
            wait_until(lambda: bool(first.poll(20)))
        yield cluster


@contextmanager
def running_consumer(cluster: Cluster, **configs: object) -> Iterator[KafkaConsumer]:
    """A consumer; ``configs`` are keys with underscores in the place of dots."""
    settings: dict[str, object] = {
        "bootstrap.servers": cluster.bootstrap_servers, "client.id": "consumer", "auto.offset.reset": "earliest",
        "enable.auto.commit": False, "max.poll.records": RECORDS_PER_POLL, "retry.backoff.ms": 10,
        "heartbeat.interval.ms": HEARTBEAT_MS, "session.timeout.ms": 10_000,
    }  # fmt: skip
    with KafkaConsumer(settings | {key.replace("_", "."): value for key, value in configs.items()}) as consumer:
        yield consumer


@contextmanager
def running_member(cluster: Cluster, **configs: object) -> Iterator[KafkaConsumer]:
    """A consumer that is in the group and knows its position; nothing is fetched yet."""
    with running_consumer(cluster, **{"group_id": "readers", **configs}) as consumer:
        consumer.subscribe([TOPIC])
        wait_until(lambda: _is_ready(consumer))
        yield consumer


def _is_ready(consumer: KafkaConsumer) -> bool:
    """Get the consumer ready. If it takes longer than its ``max.poll.interval.ms``, it must join once more."""
    if consumer.poll(0) or not consumer.assignment:
        return False
    try:
        consumer.position(PARTITION)
        _forget_fetches(consumer)
    except IllegalConsumerStateError:
        return False
    return True


def _forget_fetches(consumer: KafkaConsumer) -> None:
    """Wait for responses in flight and drop them, so that the run shows every fetch from its beginning."""
    consumer.pause([PARTITION])
    wait_until(lambda: not consumer.poll(0) and _has_all_responses(consumer))
    consumer._fetcher.on_assignment(frozenset())
    consumer.seek(PARTITION, 0)
    consumer.resume([PARTITION])


def _has_all_responses(consumer: KafkaConsumer) -> bool:
    """Wait for responses only: on a busy machine, each poll of the consumer sends the next heartbeat or commit."""
    client = consumer._client

    def receive() -> bool:
        client.poll_no_wakeup()
        return client.pending_request_count() == 0

    wait_until(receive)
    return True


def with_requests(run: RecordedRun, *apis: str) -> RecordedRun:
    """The run with only these requests (``FETCH``, …) and their responses on the wire."""
    responses = tuple("".join(part.capitalize() for part in api.split("_")) + "Response" for api in apis)
    kept = {
        (event.what, event.number)
        for event in run
        if str(event.detail.get("thing", "")).startswith((*apis, *responses))
    }
    return run.where(lambda event: event.what not in _WIRE or (event.what, event.number) in kept)


def without_vain_calls(run: RecordedRun) -> RecordedRun:
    """The run without calls that contain no other event."""
    inner = {event.parent for event in run if event.kind is not Kind.RETURN}
    vain = {event.number for event in run if event.kind is Kind.CALL and event.number not in inner}
    return run.where(lambda event: event.kind not in (Kind.CALL, Kind.RETURN) or event.number not in vain)


def without_idle_turns(run: RecordedRun) -> RecordedRun:
    """The run without a poll's idle turns, except the first: their number depends on chance."""
    idle: set[int] = set()
    busy = {event.parent for event in run if event.kind is not Kind.RETURN}
    seen: set[tuple[int | None, str, str]] = set()
    for call in run.calls():
        begin, result = call.begin, call.end.detail.get("result") if call.end else None
        if begin.number in busy:
            continue
        what = (begin.parent, begin.who, begin.what)
        if what in seen and str(result) in ("{}", "0", "None"):
            idle.add(begin.number)
        seen.add(what)
    return run.where(lambda event: event.kind not in (Kind.CALL, Kind.RETURN) or event.number not in idle)


# ── polls ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def first_poll(committed: int | None = None) -> RecordedRun:
    """A new consumer's first poll that returns something: coordinator, group, position, records.

    Its group has committed the offset ``committed``, or nothing.
    """
    watches = (
        watch_wire(),
        watch(KafkaConsumer.poll, ConsumerCoordinator.poll, AbstractCoordinator.join_group_if_needed, show=()),
        watch(CommittingMember.refresh_committed_offsets_if_needed, show=(), who="ConsumerCoordinator"),
        watch_positions("position"),
        watch_member_state(),
    )
    with (
        Recording(*watches, title="The first poll", paused=True) as recording,
        running_cluster() as cluster,
        running_consumer(cluster, group_id="readers", group_instance_id="one") as consumer,
    ):
        if committed is not None:
            with running_consumer(cluster, group_id="readers") as writer:
                writer.assign([PARTITION])
                writer.commit_sync({PARTITION: OffsetAndMetadata(committed)})
        consumer.subscribe([TOPIC])
        with recording.running():
            in_thread("user", lambda: consumer.poll(POLL_MS))
            recording.pause()
    run = with_requests(
        recording.run, "FIND_COORDINATOR", "JOIN_GROUP", "SYNC_GROUP", "OFFSET_FETCH", "LIST_OFFSETS", "FETCH"
    )
    # Later turns of the same poll find everything done: only the first call of each is worth a line.
    lanes = ("user", "KafkaConsumer", "ConsumerCoordinator", SUBSCRIPTION, BROKER)
    return without_vain_calls(run).recorded_in(__name__, "first_poll", lanes)


def polls_in_a_row() -> RecordedRun:
    """Three polls: one waits for the network, one has its records already, one finds what was fetched meanwhile."""
    watches = (watch_wire(), poll_watches())
    with (
        Recording(*watches, title="Three polls in a row", paused=True) as recording,
        running_cluster() as cluster,
        running_member(cluster) as consumer,
    ):
        user = User(recording, consumer)

        def three_turns() -> None:
            user.poll_and_work()
            user.poll_and_work()
            user.poll_and_work()

        with recording.running():
            reader = threading.Thread(target=three_turns, name="user")
            reader.start()
            wait_until(lambda: consumer._subscriptions.position(PARTITION) == 5)
            cluster.produce(TOPIC, *(f"record {offset}" for offset in range(5, 8)))
            reader.join()
            recording.pause()
    run = with_requests(recording.run, "FETCH")
    lanes = ("user", "KafkaConsumer", "Fetcher", SUBSCRIPTION, "ConsumerNetworkClient", BROKER)
    return without_idle_turns(run).recorded_in(__name__, "polls_in_a_row", lanes)


# ── futures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def futures_of_a_join() -> RecordedRun:
    """A join as four futures: a response leads to the next request, and the last one completes the first future.

    The member is static (it has a ``group.instance.id``), so it need not ask for an id first.
    """
    watches = (
        watch_futures(),
        watch_member_state(),
        watch(ConsumerNetworkClient.poll_future, show=()),
        watch(AbstractCoordinator.joined, show=()),
    )
    with (
        Recording(*watches, title="The futures of a join", paused=True) as recording,
        running_cluster() as cluster,
        running_consumer(cluster, group_id="readers", group_instance_id="one") as consumer,
    ):
        consumer.subscribe([TOPIC])
        coordinator = consumer._parts.coordinator
        assert isinstance(coordinator, ConsumerCoordinator)
        consumer.committed([PARTITION])  # so that the coordinator is known, and connected

        def join() -> None:
            coordinator.join_group_if_needed(Timer(SYSTEM_TIME, POLL_MS))

        with recording.running():
            in_thread("user", join)
            recording.pause()
    run = recording.run
    futures = [event.who for event in run if event.who[0].isdigit()]
    lanes = ("user", "ConsumerCoordinator", "ConsumerNetworkClient", *sorted(set(futures)))
    return run.recorded_in(__name__, "futures_of_a_join", lanes)


# ── heartbeats ──────────────────────────────────────────────────────────────────────────────────────────────────────


def heartbeats_beside_work() -> RecordedRun:
    """The user works for long; the heartbeat thread keeps the member in the group.

    On a busy machine a heartbeat may be due before the records have come, and gets its response in the user's poll, or
    right after the work. Then the run is recorded again.
    """
    for _ in range(ATTEMPTS):
        run = _record_heartbeats_beside_work()
        (poll,) = (span for span in run.calls() if span.begin.what == "poll")
        (work,) = (span for span in run.calls() if span.begin.what == "work")
        poll_ended_ns, work_ended_ns = (span.begin.time_ns + span.duration_ns for span in (poll, work))
        spoken = [event.time_ns for event in run if event.what in ("heartbeat_turn", "_send_heartbeat")]
        if spoken and poll_ended_ns < min(spoken) and max(spoken) < work_ended_ns:
            break
    return run


def _record_heartbeats_beside_work() -> RecordedRun:
    watches = (
        watch_wire(),
        watch(User.poll, User.work, show=()),
        watch(AbstractCoordinator.heartbeat_turn, AbstractCoordinator._send_heartbeat, show=()),
        watch(AbstractCoordinator._on_heartbeat_response, show=()),
    )
    with (
        Recording(*watches, title="Heartbeats beside the work", paused=True) as recording,
        running_cluster() as cluster,
        running_member(cluster) as consumer,
    ):
        user = User(recording, consumer)
        with recording.running():
            in_thread("user", lambda: user.poll_and_work(WORK_MS))
            recording.pause()
    run = with_requests(recording.run, "FETCH", "HEARTBEAT")
    return run.recorded_in(
        __name__, "heartbeats_beside_work", ("user", "HeartbeatThread", "ConsumerCoordinator", BROKER)
    )


def work_for_too_long() -> RecordedRun:
    """The user works for longer than ``max.poll.interval.ms``: the heartbeat thread leaves the group."""
    return recorded_in_time(_record_work_for_too_long, lambda run: _leaves(run) == 1)


def _leaves(run: RecordedRun) -> int:
    things = (str(event.detail.get("thing", "")) for event in run if event.kind is Kind.PUT)
    return sum(thing.startswith("LEAVE_GROUP") for thing in things)


def _record_work_for_too_long() -> RecordedRun:
    watches = (
        watch_wire(),
        watch_member_state(),
        watch(User.poll, User.commit_sync, show=(), who="KafkaConsumer"),
    )
    with (
        quiet(*QUIET),
        Recording(*watches, title="Work for too long", paused=True) as recording,
        running_cluster() as cluster,
        running_member(
            cluster, max_poll_interval_ms=POLL_INTERVAL_MS, heartbeat_interval_ms=3 * HEARTBEAT_MS // 2
        ) as consumer,
    ):
        user = User(recording, consumer)

        def too_long() -> None:
            user.poll_and_work(0)
            wait_until(lambda: not _is_member(consumer))
            with suppress(CommitFailedError):
                user.commit_sync()
            user.poll()

        with recording.running():
            in_thread("user", too_long)
            recording.pause()
    run = with_requests(recording.run, "HEARTBEAT", "LEAVE_GROUP", "OFFSET_COMMIT", "OFFSET_FETCH")
    return run.recorded_in(
        __name__, "work_for_too_long", ("user", "KafkaConsumer", "ConsumerCoordinator", "HeartbeatThread", BROKER)
    )


def _is_member(consumer: KafkaConsumer) -> bool:
    coordinator = consumer._parts.coordinator
    return isinstance(coordinator, ConsumerCoordinator) and coordinator.state is MemberState.STABLE


# ── commits ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def automatic_commits() -> RecordedRun:
    """Each poll commits what the one before it has returned.

    The interval begins when the first poll has returned. If it began earlier, a busy machine would commit the offset 0
    while the member gets ready, or while the first poll waits for its records.
    """
    watches = (
        watch_wire(),
        watch(User.poll, show=(), who="KafkaConsumer"),
        watch(CommittingMember.maybe_auto_commit_offsets_async, show=(), who="ConsumerCoordinator"),
        watch(OffsetCommitter.send_commit, show=("offsets",), who="ConsumerCoordinator"),
        watch_positions(),
    )
    with (
        Recording(*watches, title="Automatic commits", paused=True) as recording,
        running_cluster(8) as cluster,
        # Rare heartbeats, so that only the user's thread reads responses.
        running_member(
            cluster, enable_auto_commit=True, auto_commit_interval_ms=POLL_MS, heartbeat_interval_ms=3000
        ) as consumer,
    ):
        user = User(recording, consumer)

        def three_turns() -> None:
            user.poll_and_work(0)
            _commit_every(COMMIT_INTERVAL_MS, consumer)
            user.work(SHORT_WORK_MS)
            user.poll_and_work()
            user.poll_and_work()

        with recording.running():
            in_thread("user", three_turns)
            recording.pause()
    run = without_vain_calls(with_requests(recording.run, "OFFSET_COMMIT"))
    return run.recorded_in(
        __name__, "automatic_commits", ("user", "KafkaConsumer", "ConsumerCoordinator", SUBSCRIPTION, BROKER)
    )


def _commit_every(interval_ms: float, consumer: KafkaConsumer) -> None:
    """Give the consumer another ``auto.commit.interval.ms``, which begins now."""
    coordinator = consumer._parts.coordinator
    assert isinstance(coordinator, ConsumerCoordinator)
    coordinator._auto_commit_interval_ms = interval_ms
    coordinator._next_auto_commit_ms = SYSTEM_TIME.hi_res_ms() + interval_ms


def commit_repeated() -> RecordedRun:
    """A synchronous commit meets a coordinator that is loading, and is repeated."""
    watches = (
        watch_wire(),
        watch(User.commit_sync, show=(), who="KafkaConsumer"),
        watch(OffsetCommitter.send_commit, show=("offsets",), who="ConsumerCoordinator"),
        watch_positions("committed"),
    )
    with (
        quiet(*QUIET),
        Recording(*watches, title="A commit is repeated", paused=True) as recording,
        running_cluster() as cluster,
        running_member(cluster) as consumer,
        cluster.inject("OffsetCommit", Errors.COORDINATOR_LOAD_IN_PROGRESS).once(),
    ):
        user = User(recording, consumer)
        user.poll()
        with recording.running():
            in_thread("user", user.commit_sync)
            recording.pause()
    run = with_requests(recording.run, "OFFSET_COMMIT")
    return run.recorded_in(
        __name__, "commit_repeated", ("user", "KafkaConsumer", "ConsumerCoordinator", SUBSCRIPTION, BROKER)
    )


# ── two deaths ──────────────────────────────────────────────────────────────────────────────────────────────────────


def at_most_once() -> RecordedRun:
    """Committed, then processed: consumer 1 dies after record 1, and nobody processes 2 and 3."""
    return _deaths("at_most_once", "At most once", delivery_semantics.at_most_once, "1")


def at_least_once() -> RecordedRun:
    """Processed, then committed: consumer 1 dies after record 6, and consumer 2 processes 4, 5 and 6 again."""
    return _deaths("at_least_once", "At least once", delivery_semantics.at_least_once, "6")


def exactly_once_in_kafka() -> RecordedRun:
    """Results and offsets in one transaction: consumer 1 dies after record 5. 4 and 5 are processed twice.

    Notes at the end have what readers of the output get.
    """
    settings = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
    with (
        quiet(*QUIET),
        Recording(watch_deaths(), title="Exactly once", paused=True) as recording,
        Cluster(settings) as cluster,
        recording.running(),
    ):
        cluster.create_topic("results")
        loop = delivery_semantics.in_kafka(cluster, "results")
        delivery_semantics.play(cluster, loop, "5", lambda _, record: recording.note(f"record {record}", record=record))
        for isolation in delivery_semantics.ISOLATION_LEVELS:
            recording.note(isolation, values=delivery_semantics.results(cluster, "results", isolation))
    return recording.run.recorded_in(__name__, "exactly_once_in_kafka", ("consumer 1", "consumer 2"))


def _deaths(name: str, title: str, loop: delivery_semantics.Loop, dies_after: str) -> RecordedRun:
    watches = (
        watch_wire(),
        watch(KafkaConsumer.poll, KafkaConsumer.commit_sync, show=()),
        watch_positions(),
        watch_deaths(),
    )
    with (
        quiet(*QUIET),
        Recording(*watches, title=title, paused=True) as recording,
        Cluster({"offsets.topic.num.partitions": "1"}) as cluster,
        recording.running(),
    ):
        delivery_semantics.play(
            cluster, loop, dies_after, lambda _, record: recording.note(f"record {record}", record=record)
        )
        recording.pause()
    run = with_requests(recording.run, "OFFSET_COMMIT", "OFFSET_FETCH")
    return run.recorded_in(__name__, name, ("consumer 1", "consumer 2", "KafkaConsumer", SUBSCRIPTION, BROKER))


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "first-poll": first_poll,
    "polls-in-a-row": polls_in_a_row,
    "futures-of-a-join": futures_of_a_join,
    "heartbeats-beside-work": heartbeats_beside_work,
    "work-for-too-long": work_for_too_long,
    "automatic-commits": automatic_commits,
    "commit-repeated": commit_repeated,
    "at-most-once": at_most_once,
    "at-least-once": at_least_once,
    "exactly-once-in-kafka": exactly_once_in_kafka,
}
