"""Recorded run of a group of KIP-848: a third member joins. Its older form is chapter 5's ``third_member_joins``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chapters.ch05_coordinator.figures.group_runs import (
    GROUP_ID,
    NAMES,
    QUIET,
    WAIT_MS,
    Reader,
    running_cluster,
    wait_balanced,
)
from kafka_learn.recording.group_watches import COORDINATOR, watch_group_requests
from kafka_learn.recording.recorded_run import Event, HandOver, Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import wait_until
from kafka_learn.recording.watches import watch_states
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, pairs
from kafka_lite.testing.cluster import Cluster

GROUP = "ConsumerGroup"
HEARTBEAT = "ConsumerGroupHeartbeat"
HEARTBEAT_MS = 150
EPOCH_BEFORE = "epoch 2"
"""The epoch of a group of which two members have joined, one after the other."""
FREQUENT = {
    "group_consumer_min_heartbeat_interval_ms": str(HEARTBEAT_MS),
    "group_consumer_heartbeat_interval_ms": str(HEARTBEAT_MS),
}


def _watches() -> list[Watch]:
    """The group's state, each member's part, and what the members' listeners are told."""

    def assigned(call: Call) -> None:
        member = call.subject.members.get(call.argument("member_id"))
        if member is None or call.argument("value") is None:
            return
        gives_up = f", gives up {numbers(member.pending_revocation)}" if member.pending_revocation else ""
        part = f"epoch {member.member_epoch}, {member.state.name}, has {numbers(member.assigned)}{gives_up}"
        call.emit(Kind.NOTE, GROUP, f"{member.client_id}: {part}")

    def told(call: Call) -> None:
        which = " ".join(str(each.partition) for each in sorted(call.argument("partitions")))
        if which:
            call.emit(Kind.NOTE, call.actor, f"{call.watch.name} {which}")

    return [
        *watch_group_requests(HEARTBEAT),
        *watch_states(ConsumerGroup),
        Watch.of(ConsumerGroup._replay_current, lambda _: None, assigned),
        Watch.of(Reader.on_partitions_revoked, told),
        Watch.of(Reader.on_partitions_assigned, told),
    ]


def numbers(partitions: TopicIdPartitions) -> str:
    """The numbers of partitions of one topic."""
    return " ".join(str(number) for _, number in pairs(partitions)) or "nothing"


def third_member_of_modern_group() -> RecordedRun:
    """A stable group of two gets a third member, and only the member that must give up something is bothered."""
    with (
        quiet(*QUIET),
        Recording(_watches(), title="A third member joins a group that the broker assigns", paused=True) as recording,
        running_cluster(**FREQUENT) as cluster,
    ):
        readers: list[Reader] = []
        try:
            for name in NAMES[:2]:
                readers.append(Reader(cluster, name, group_protocol="consumer"))
                _wait_stable(cluster, readers)
            with recording.running():
                readers.append(Reader(cluster, NAMES[2], group_protocol="consumer"))
                _wait_stable(cluster, readers)
                recording.pause()
        finally:
            for reader in readers:
                reader.leave()
    run = without_quiet_heartbeats(_from_the_third(recording.run))
    return run.recorded_in(__name__, "third_member_of_modern_group", (*NAMES[:3], COORDINATOR, GROUP))


def _wait_stable(cluster: Cluster, readers: list[Reader]) -> None:
    """Wait until the coordinator has all members where they shall be, and all of them know it."""
    groups = cluster.server.groups.consumer_groups

    def is_stable() -> bool:
        group = groups.handle_describe(GROUP_ID)
        return group.group_state == "Stable" and len(group.members) == len(readers)

    wait_until(is_stable, WAIT_MS)
    wait_balanced(readers)


def _from_the_third(run: RecordedRun) -> RecordedRun:
    """The run from the first request of the third member on: the second may just have told what it has."""
    begin = next(index for index, event in enumerate(run) if event.who == NAMES[2])
    return replace(run, events=run.events[begin:])


def without_quiet_heartbeats(run: RecordedRun) -> RecordedRun:
    """The run without heartbeats that say nothing and bring nothing: no partitions, and no new epoch."""
    asked = [pair for pair in run.hand_overs() if pair.put.what == HEARTBEAT]
    told = [pair for pair in run.hand_overs() if pair.put.what == f"{HEARTBEAT} response"]
    epochs: dict[str, str] = {}
    shown: set[int] = set()
    for request in asked:
        response = next((each for each in told if _responds(each, request)), None)
        if response is None or response.take is None:
            continue
        says = str(response.take.detail.get("says"))
        epoch, _, use = says.partition(", ")
        before = epochs.setdefault(request.put.who, EPOCH_BEFORE)
        epochs[request.put.who] = epoch
        if "says" in request.put.detail or use or epoch != before:
            shown |= _ids(request) | _ids(response)
    everything = {one for pair in (*asked, *told) for one in _ids(pair)}
    return run.where(lambda event: id(event) not in everything - shown)


def _responds(response: HandOver, asked: HandOver) -> bool:
    taken = response.take
    return taken is not None and taken.who == asked.put.who and response.put.time_ns > asked.put.time_ns


def _ids(pair: HandOver) -> set[int]:
    events: list[Event | None] = [pair.put, pair.take]
    return {id(event) for event in events if event is not None}


RUNS: dict[str, Callable[[], RecordedRun]] = {"third-member-of-modern-group": third_member_of_modern_group}
