"""Recorded runs of one partition and two members: of a consumer group, and of a share group (KIP-932)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from chapters.ch05_coordinator.figures.group_runs import (
    GROUP_ID,
    NAMES,
    ONE_HANDLER,
    QUIET,
    WAIT_MS,
    Reader,
    group_metadata,
)
from chapters.ch10_advanced.figures.transaction_runs import arrow
from kafka_learn.recording.group_watches import GROUP, watch_groups, watch_members
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import TOPIC, connect, in_thread, wait_until
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.consumer import AcknowledgeType, KafkaConsumer, KafkaShareConsumer
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_lite.server.share.record_state import GAP
from kafka_lite.server.share.share_partition import SharePartition
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin.configs import GROUPS, RESOURCE_TYPES

RECORDS = 6
AT_ONCE = 3
"""``max.poll.records``."""
ANN, BOB = NAMES[:2]
PARTITION = "SharePartition"
SET = 0
"""The operation on a configuration key."""
LOCK_S, SESSION_S = 31, 11
"""A little more than the time for which records are locked, and than a session."""
SHARING = {"group.share.enable": "true", "share.coordinator.state.topic.num.partitions": "1"}
WORDS = {GAP: "gap", **{int(each.value): each.name.lower() for each in AcknowledgeType}}


@contextmanager
def _one_partition(overrides: Mapping[str, str]) -> Iterator[Cluster]:
    with Cluster({**ONE_HANDLER, **overrides}) as cluster:
        cluster.create_topic(TOPIC)
        for number in range(RECORDS):
            cluster.produce(TOPIC, str(number))
        yield cluster


# ── a consumer group ────────────────────────────────────────────────────────────────────────────────────────────────


def two_readers_of_one_partition() -> RecordedRun:
    """Ann has the partition, and bob nothing. She stalls: what she has read is read again, by bob, and in order."""
    watches = (*watch_groups(), *watch_members(), Watch.of(KafkaConsumer.poll, lambda _: None, _read))
    with (
        quiet(*QUIET),
        Recording(*watches, title="One partition, two consumers", paused=True) as recording,
        _one_partition({}) as cluster,
        recording.running(),
        ExitStack() as leaving,
    ):
        ann = _joined(cluster, ANN, leaving)
        wait_until(lambda: ann.records == RECORDS, WAIT_MS)
        bob = _joined(cluster, BOB, leaving)
        with ann.stopped_world():
            recording.emit(Kind.NOTE, GROUP, f"clock: + {SESSION_S} s")
            _let_time_pass(cluster)
            wait_until(lambda: bob.records == RECORDS, WAIT_MS)
            recording.pause()
    run = recording.run.where(lambda event: event.kind is not Kind.STATE or event.detail["before"] is not None)
    return run.recorded_in(__name__, "two_readers_of_one_partition", (ANN, BOB, GROUP))


def _joined(cluster: Cluster, name: str, leaving: ExitStack) -> Reader:
    reader = Reader(cluster, name, max_poll_records=AT_ONCE)
    leaving.callback(reader.leave)
    wait_until(lambda: reader.owned is not None and _is_stable(cluster), WAIT_MS)
    return reader


def _is_stable(cluster: Cluster) -> bool:
    group = group_metadata(cluster)
    return group is not None and group.state.name == "STABLE"


def _let_time_pass(cluster: Cluster) -> None:
    """A session passes, in steps that let bob send heartbeats: a session has ten seconds."""
    group = group_metadata(cluster)
    assert group is not None
    for _ in range(2):
        bob = next(each for each in group.members.values() if each.client_id == BOB)
        waiting = bob.delayed_heartbeat
        cluster.time.advance(seconds=SESSION_S / 2)
        wait_until(lambda waiting=waiting, bob=bob: bob.delayed_heartbeat is not waiting, WAIT_MS)  # type: ignore[misc]


def _read(call: Call) -> None:
    if call.error is None and len(call.result):
        call.emit(Kind.NOTE, call.actor, f"reads {' '.join(str(record.offset) for record in call.result)}")


# ── a share group ───────────────────────────────────────────────────────────────────────────────────────────────────


class Members:
    """The members of a share group by name."""

    def __init__(self, cluster: Cluster) -> None:
        configs = {
            "bootstrap.servers": cluster.bootstrap_servers, "group.id": GROUP_ID, "max.poll.records": AT_ONCE,
            "share.acknowledgement.mode": "explicit",
        }  # fmt: skip
        self._consumers = {name: KafkaShareConsumer({**configs, "client.id": name}) for name in (ANN, BOB)}
        self._lock = threading.Lock()

    def name_of(self, member_id: str) -> str:
        """The lane of a member."""
        return next(name for name, each in self._consumers.items() if each._membership.member_id == member_id)

    def subscribe(self) -> None:
        """Both join, and wait until they have the partition."""
        for consumer in self._consumers.values():
            consumer.subscribe([TOPIC])

    def poll(self, name: str) -> dict[int, object]:
        """Poll in a thread of that name until there are records."""
        records: dict[int, object] = {}

        def work() -> None:
            while not records:
                records.update({record.offset: record for record in self._consumers[name].poll(100)})

        in_thread(name, work)
        return records

    def acknowledge(self, name: str, records: dict[int, object], words: dict[int, AcknowledgeType]) -> None:
        """Say what has become of records, and wait until that is written."""

        def work() -> None:
            for offset, word in words.items():
                self._consumers[name].acknowledge(records[offset], word)  # type: ignore[arg-type]
            self._consumers[name].commit_sync()

        in_thread(name, work)

    def close(self) -> None:
        """Both leave."""
        for consumer in self._consumers.values():
            consumer.close()


def _share_watches(members: list[Members]) -> list[Watch]:
    """Watch the leader of the partition: what it delivers to whom, and what the members acknowledge."""

    def acquired(call: Call) -> None:
        name = members[0].name_of(call.argument("member_id"))
        for first, last, count in call.result or ():
            arrow(call, PARTITION, name, "acquired", f"{_range(first, last)}, delivery {count}")

    def acknowledged(call: Call) -> None:
        name = members[0].name_of(call.argument("member_id"))
        said = [f"{_range(each.first_offset, each.last_offset)} {_types(each)}" for each in call.argument("batches")]
        arrow(call, name, PARTITION, "acknowledge", ", ".join(said))

    def expired(call: Call) -> None:
        lock = call.argument("lock")
        call.emit(Kind.NOTE, PARTITION, f"the lock of {_range(lock.first_offset, lock.last_offset)} expires")

    return [
        Watch.of(SharePartition.acquire, lambda _: None, acquired),
        Watch.of(SharePartition.acknowledge, acknowledged),
        Watch.of(SharePartition._on_lock_timeout, expired),
    ]


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _types(batch: object) -> str:
    types = batch.acknowledge_types  # type: ignore[attr-defined]
    return " ".join(WORDS[each] for each in types)


def two_members_of_one_partition() -> RecordedRun:
    """Each has records of the same partition. What one releases, or holds for too long, the other one gets."""
    members: list[Members] = []
    with (
        quiet(*QUIET),
        Recording(
            _share_watches(members), title="One partition, two members of a share group", paused=True
        ) as recording,
        _one_partition(SHARING) as cluster,
    ):
        _begin_at_the_first_record(cluster)
        members.append(Members(cluster))
        try:
            members[0].subscribe()
            with recording.running():
                _share(members[0], recording, cluster)
        finally:
            members[0].close()
    return recording.run.recorded_in(__name__, "two_members_of_one_partition", (ANN, BOB, PARTITION))


def _begin_at_the_first_record(cluster: Cluster) -> None:
    """Without this a share group begins at the end of a partition."""
    config = AlterableConfig(name="share.auto.offset.reset", config_operation=SET, value="earliest")
    resource = AlterConfigsResource(resource_type=RESOURCE_TYPES[GROUPS], resource_name=GROUP_ID, configs=[config])
    with connect(cluster.server) as channel:
        channel.exchange(IncrementalAlterConfigsRequest(resources=[resource]), 1)


def _share(members: Members, recording: Recording, cluster: Cluster) -> None:
    accept, release, reject = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT
    of_ann = members.poll(ANN)
    members.poll(BOB)
    members.acknowledge(ANN, of_ann, {0: accept, 1: release, 2: reject})
    again = members.poll(ANN)
    members.acknowledge(ANN, again, dict.fromkeys(again, accept))
    recording.emit(Kind.NOTE, PARTITION, f"clock: + {LOCK_S} s")
    cluster.time.advance(seconds=LOCK_S)
    late = members.poll(ANN)
    members.acknowledge(ANN, late, dict.fromkeys(late, accept))


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "two-readers-of-one-partition": two_readers_of_one_partition,
    "two-members-of-one-partition": two_members_of_one_partition,
}
