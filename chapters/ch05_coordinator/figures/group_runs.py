"""Recorded runs of consumer groups: joins, heartbeats that come too late, commits in the middle of a rebalance.

Book 5. Real consumers, each in a thread of its own; where a broker's time matters, its clock is moved forward, in steps
that are shorter than a session, so that live members can send heartbeats in between.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from kafka_learn.recording.group_by_hand import GroupByHand
from kafka_learn.recording.group_watches import (
    COORDINATOR,
    GROUP,
    watch_delayed_heartbeats,
    watch_delayed_joins,
    watch_group_requests,
    watch_groups,
    watch_members,
)
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import AS_IN_KAFKA, TOPIC, wait_until
from kafka_learn.recording.summaries import class_name
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import ConsumerRebalanceListener, KafkaConsumer
from kafka_lite.consumer.group.consumer_coordinator import ConsumerCoordinator
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.testing.cluster import Cluster

NAMES = ("ann", "bob", "cid", "dan", "eve")
GROUP_ID = "readers"
PARTITIONS = 4
ONE_HANDLER = {**AS_IN_KAFKA, "num.io.threads": "1", "offsets.topic.num.partitions": "1"}
"""One request handler for all requests: a request that waits does so without a thread."""
HEARTBEAT_MS = 60
RARE_MS = 1_500
"""The interval between heartbeats of a member that is to hear of something late."""
INITIAL_DELAY_S = 30
REST_MS = 120
"""How long a group is left alone between two changes of its members."""
SESSION_S = 10
STEP_S = 4
"""Three steps of the clock are more than a session, two are less."""
REBALANCE_S, LONG_SESSION_S = 30, 45
"""A rebalance timeout, and a session that is longer."""
WAIT_MS = 60_000


class Reader(ConsumerRebalanceListener):
    """A consumer that polls in a thread of its own, named after its ``client.id``."""

    def __init__(self, cluster: Cluster, name: str, **configs: object) -> None:
        """``configs`` are keys with underscores in the place of dots."""
        settings: dict[str, object] = {
            "bootstrap.servers": cluster.bootstrap_servers, "group.id": GROUP_ID, "client.id": name,
            "auto.offset.reset": "earliest", "enable.auto.commit": False, "retry.backoff.ms": 10,
        }  # fmt: skip
        if configs.get("group_protocol") != "consumer":  # there the broker has these two keys
            settings |= {"heartbeat.interval.ms": HEARTBEAT_MS, "session.timeout.ms": SESSION_S * 1000}
        self.name = name
        self.consumer = KafkaConsumer(settings | {key.replace("_", "."): value for key, value in configs.items()})
        self.owned: frozenset[TopicPartition] | None = None
        """None while it is not in a generation."""
        self.records = 0
        """How many it has read."""
        self.commits_on_revoke = False
        self.last_commit = ""
        """The outcome of the last commit."""
        self._is_busy = threading.Event()
        self._is_held = threading.Event()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._read, name=name, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        self.consumer.subscribe([TOPIC], self)
        while not self._is_stopping:
            self.records += len(self.consumer.poll(20))
            if self._is_busy.is_set():
                self._is_held.set()
                wait_until(lambda: not self._is_busy.is_set(), WAIT_MS)
                self.commit()
        self.consumer.close(5_000)

    def commit(self) -> None:
        """Commit the positions, as the user's code does when it has worked on what it got."""
        try:
            self.consumer.commit_sync()
            self.last_commit = "done"
        except KafkaError as error:
            self.last_commit = class_name(error)

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002
        """Before a rebalance."""
        if self.commits_on_revoke:
            self.commit()
        self.owned = None

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002
        """Nothing to commit any more."""
        self.owned = None

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002
        """After it. In a group that the broker assigns only new partitions are passed."""
        self.owned = frozenset(self.consumer.assignment)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Do not poll: the thread is in the user's code, and commits after it."""
        self._is_busy.set()
        self._is_held.wait(WAIT_MS / 1000)
        yield
        self._is_busy.clear()

    @contextmanager
    def stopped_world(self) -> Iterator[None]:
        """Stop the whole consumer, heartbeats included, as a long garbage collection stops a JVM.

        Afterwards the heartbeat thread runs first; the user's code continues after its response.
        """
        coordinator = self.consumer._parts.coordinator
        assert isinstance(coordinator, ConsumerCoordinator)
        with self.busy():
            with coordinator.lock:
                yield
            wait_until(lambda: coordinator.state is not MemberState.STABLE, WAIT_MS)

    def leave(self) -> None:
        """Close the consumer, and wait until that is done."""
        self._is_stopping = True
        self._thread.join(WAIT_MS / 1000)


@contextmanager
def running_group(cluster: Cluster, names: Sequence[str] = (), **configs: object) -> Iterator[list[Reader]]:
    """Readers that share the topic already. Readers that are added to the list leave at the end, too."""
    with ExitStack() as leaving:
        readers: list[Reader] = []
        leaving.callback(_all_leave, readers)
        for name in names:
            readers.append(Reader(cluster, name, **configs))
            wait_balanced(readers)
        wait_until(lambda: _is_stable(cluster, len(names)) and all(reader.records for reader in readers), WAIT_MS)
        yield readers


def _all_leave(readers: Sequence[Reader]) -> None:
    for reader in readers:
        reader.leave()


def wait_balanced(readers: Sequence[Reader]) -> None:
    """Wait until every partition has one owner, and every member knows its part."""
    wait_until(lambda: _is_balanced(readers), WAIT_MS)


def _is_balanced(readers: Sequence[Reader]) -> bool:
    owned = [reader.owned for reader in readers]
    if any(each is None for each in owned):
        return False
    partitions = [partition for each in owned for partition in each or ()]
    return len(partitions) == len(set(partitions)) == PARTITIONS


def group_metadata(cluster: Cluster) -> GroupMetadata | None:
    """The group as the coordinator has it."""
    return cluster.server.groups.group_manager.get_group(GROUP_ID)


@contextmanager
def running_cluster(**overrides: str) -> Iterator[Cluster]:
    """A broker with the topic, and with ``__consumer_offsets``."""
    with Cluster({**ONE_HANDLER, **{key.replace("_", "."): value for key, value in overrides.items()}}) as cluster:
        cluster.create_topic(TOPIC, PARTITIONS)
        for partition in range(PARTITIONS):
            cluster.produce(TOPIC, "a", "b", partition=partition)
        GroupByHand(cluster, GROUP_ID)
        yield cluster


QUIET = ("kafka_lite.consumer", "kafka_lite.coordinator")
"""The loggers that warn of the failures that the runs cause on purpose."""


def _member_watches() -> list[Watch]:
    """A member's own calls, including failed commits."""

    def committed(call: Call) -> None:
        call.emit(Kind.NOTE, call.actor, f"commit_sync: {call.subject.last_commit}")

    return [*watch_members(), Watch.of(Reader.commit, after=committed)]


# ── joining ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def four_members_join() -> RecordedRun:
    """Four consumers of an empty group, one after the other, and one generation: the broker waits a little for more.

    A little by its own clock, which is put forward when all four are there.
    """
    watches = (
        watch_group_requests("JoinGroup", "SyncGroup"), watch_groups(), watch_delayed_joins(), watch_members(),
    )  # fmt: skip
    with (
        Recording(*watches, title="Four members join and sync", paused=True) as recording,
        running_cluster(group_initial_rebalance_delay_ms=str(INITIAL_DELAY_S * 1000)) as cluster,
        running_group(cluster) as readers,
        recording.running(),
    ):
        for joined, name in enumerate(NAMES[:4], 1):
            readers.append(Reader(cluster, name))
            wait_until(lambda count=joined: _joining(cluster) == count, WAIT_MS)  # type: ignore[misc]
        _advance(recording, cluster, INITIAL_DELAY_S)
        wait_until(lambda: _waits_again(cluster), WAIT_MS)
        _advance(recording, cluster, INITIAL_DELAY_S)
        wait_balanced(readers)
        recording.pause()
    run = recording.run.where(lambda event: not event.what.startswith("on_join_") and not _is_first_state(event))
    return run.recorded_in(__name__, "four_members_join", (*NAMES[:4], COORDINATOR, GROUP, "DelayedJoin"))


def _waits_again(cluster: Cluster) -> bool:
    """Whether the InitialDelayedJoin ended after a new member arrived, and another one replaced it."""
    group = group_metadata(cluster)
    if group is None:
        return False
    with group.lock:  # which is held from the end of the one to the beginning of the other
        return not group.new_member_added


def _is_first_state(event: Event) -> bool:
    return event.kind is Kind.STATE and event.detail["before"] is None


def _joining(cluster: Cluster) -> int:
    group = group_metadata(cluster)
    return group.num_awaiting_join if group is not None else 0


def third_member_joins() -> RecordedRun:
    """A stable group of two gets a third member: both learn of it by their heartbeats."""
    watches = (watch_group_requests(), watch_groups(), watch_delayed_joins(), _member_watches())
    with (
        Recording(*watches, title="A third member joins a stable group", paused=True) as recording,
        running_cluster() as cluster,
        running_group(cluster, NAMES[:2]) as readers,
        recording.running(),
    ):
        readers.append(Reader(cluster, NAMES[2]))
        wait_balanced(readers)
        recording.pause()
    run = without_quiet_heartbeats(recording.run)
    return run.recorded_in(__name__, "third_member_joins", (*NAMES[:3], COORDINATOR, GROUP, "DelayedJoin"))


def one_to_five() -> RecordedRun:
    """One to five consumers of four partitions. They join one after the other and leave in the same order."""
    watches = (watch_group_requests("LeaveGroup"), watch_groups(), watch_members())
    with (
        Recording(*watches, title="One to five consumers", paused=True) as recording,
        running_cluster() as cluster,
        running_group(cluster) as readers,
        recording.running(),
    ):
        for name in NAMES:
            readers.append(Reader(cluster, name))
            wait_balanced(readers)
            SYSTEM_TIME.sleep(REST_MS)
        while len(readers) > 1:
            readers.pop(0).leave()
            wait_until(lambda: _is_stable(cluster, len(readers)), WAIT_MS)
            wait_balanced(readers)
            SYSTEM_TIME.sleep(REST_MS)
        recording.note("end")
        recording.pause()
    run = recording.run.where(lambda event: not _is_first_state(event))
    return run.recorded_in(__name__, "one_to_five", (GROUP,))


def _is_stable(cluster: Cluster, members: int) -> bool:
    group = group_metadata(cluster)
    if group is None:
        return members == 0
    return group.is_in(GroupState.STABLE) and len(group.members) == members


# ── too late ────────────────────────────────────────────────────────────────────────────────────────────────────────


def late_heartbeat() -> RecordedRun:
    """Bob's process stalls for longer than a session: ann gets his partitions before he knows it."""
    watches = (watch_group_requests(), watch_groups(), watch_delayed_heartbeats("bob"), _member_watches())
    with (
        quiet(*QUIET),
        Recording(*watches, title="A heartbeat that comes too late", paused=True) as recording,
        running_cluster() as cluster,
        running_group(cluster, NAMES[:2]) as (ann, bob),
        recording.running(),
    ):
        wait_until(lambda: _lies_in_wait(recording))
        with bob.stopped_world():
            for step in range(1, 4):
                _advance(recording, cluster, STEP_S, passed_s=step * STEP_S)
                _wait_for_heartbeat(cluster, "ann")
            wait_until(lambda: len(ann.owned or ()) == PARTITIONS, WAIT_MS)
        wait_balanced([ann, bob])
        recording.pause()
    run = until(without_quiet_heartbeats(recording.run), "+ bob")
    return run.recorded_in(__name__, "late_heartbeat", ("ann", "bob", COORDINATOR, GROUP, "DelayedHeartbeat"))


def _lies_in_wait(recording: Recording) -> bool:
    return any(event.kind is Kind.PUT and event.who == "DelayedHeartbeat" for event in recording.run)


def _advance(recording: Recording, cluster: Cluster, seconds: int, *, passed_s: int = 0) -> None:
    """Move the broker's clock forward, and note it, with the total time if given."""
    recording.emit(Kind.NOTE, COORDINATOR, f"clock: + {passed_s or seconds} s")
    cluster.time.advance(seconds=seconds)


def _wait_for_heartbeat(cluster: Cluster, name: str) -> None:
    """Wait until the coordinator has heard from a member."""
    group = group_metadata(cluster)
    assert group is not None
    member = next(each for each in group.members.values() if each.client_id == name)
    waiting = member.delayed_heartbeat
    wait_until(lambda: member.delayed_heartbeat is not waiting, WAIT_MS)


def late_join() -> RecordedRun:
    """Ann sends heartbeats but does not poll: the others wait for the rebalance timeout, and no longer."""
    watches = (watch_group_requests(), watch_groups(), watch_delayed_joins(), _member_watches())
    patience: dict[str, object] = {
        "max_poll_interval_ms": REBALANCE_S * 1000, "session_timeout_ms": LONG_SESSION_S * 1000,
        "heartbeat_interval_ms": RARE_MS,
    }  # fmt: skip
    with (
        quiet(*QUIET),
        Recording(*watches, title="A member that joins too late", paused=True) as recording,
        running_cluster() as cluster,
        running_group(cluster, ["ann"], **patience) as readers,
        recording.running(),
    ):
        with readers[0].busy():
            readers.append(bob := Reader(cluster, "bob", **patience))
            wait_until(lambda: _joining(cluster) == 1, WAIT_MS)
            wait_until(lambda: _is_told(recording, "ann"), WAIT_MS)
            _advance(recording, cluster, REBALANCE_S + 2)
            wait_until(lambda: len(bob.owned or ()) == PARTITIONS, WAIT_MS)
        wait_balanced(readers)
        recording.pause()
    run = until(without_quiet_heartbeats(recording.run), "+ ann")
    return run.recorded_in(__name__, "late_join", ("ann", "bob", COORDINATOR, GROUP, "DelayedJoin"))


def _is_told(recording: Recording, name: str) -> bool:
    """Whether a heartbeat has told a member of the rebalance."""
    return any(
        event.who == name and event.detail.get("says") == Errors.REBALANCE_IN_PROGRESS.name for event in recording.run
    )


# ── commits ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def commit_in_a_rebalance() -> RecordedRun:
    """Ann commits what she has read when she hears of the rebalance: her old generation is still valid for that."""
    watches = (watch_group_requests(), watch_groups(), watch_delayed_joins(), _member_watches())
    with (
        Recording(*watches, title="A commit in the middle of a rebalance", paused=True) as recording,
        running_cluster() as cluster,
        running_group(cluster, ["ann"]) as readers,
        recording.running(),
    ):
        readers[0].commits_on_revoke = True
        readers.append(Reader(cluster, "bob"))
        wait_balanced(readers)
        recording.pause()
    run = without_quiet_heartbeats(recording.run)
    return run.recorded_in(__name__, "commit_in_a_rebalance", ("ann", "bob", COORDINATOR, GROUP, "DelayedJoin"))


def without_quiet_heartbeats(run: RecordedRun) -> RecordedRun:
    """The run without heartbeats that bring no news, and their responses."""
    pairs = run.hand_overs()
    heartbeats = [pair for pair in pairs if pair.put.what == "Heartbeat"]
    responses = [pair for pair in pairs if pair.put.what == "Heartbeat response"]
    quiet_events: set[int] = set()
    for asked in heartbeats:
        response = next(
            (one for one in responses if one.take is not None and asked.put.who == one.take.who
             and one.put.time_ns > asked.put.time_ns), None,
        )  # fmt: skip
        if response is None or response.take is None or response.take.detail["says"] == Errors.NONE.name:
            quiet_events |= _ids(asked.put, asked.take)
            if response is not None:
                quiet_events |= _ids(response.put, response.take)
    return run.where(lambda event: id(event) not in quiet_events)


def until(run: RecordedRun, what: str) -> RecordedRun:
    """The run up to, and without, the first event of this name."""
    end = next((index for index, event in enumerate(run) if event.what == what), len(run))
    return replace(run, events=run.events[:end])


def _ids(*events: Event | None) -> set[int]:
    return {id(event) for event in events if event is not None}


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "four-members-join": four_members_join,
    "third-member-joins": third_member_joins,
    "one-to-five": one_to_five,
    "late-heartbeat": late_heartbeat,
    "late-join": late_join,
    "commit-in-a-rebalance": commit_in_a_rebalance,
}
