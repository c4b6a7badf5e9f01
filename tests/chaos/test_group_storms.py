"""Fifty members of one group join at once, leave, are killed or paused beyond their sessions, again and again."""

from __future__ import annotations

import os
import random
import threading
from contextlib import ExitStack
from typing import Self

import pytest

from kafka_learn.recording.group_by_hand import GroupByHand
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import deserialize_assignment
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_storm import (
    Phase,
    Storm,
    check_history,
    history_in_log,
)
from tests.support.group_worker import GroupWorker
from tests.support.groups import leftovers
from tests.support.patience import patient_s
from tests.support.raw_member import RawMember

MEMBERS, PARTITIONS = 50, 60
WAVES = int(os.environ.get("KAFKA_LITE_GROUP_WAVES", "4"))
WAVE_S = 3
PROCESSES = 5
EVENTS = int(os.environ.get("KAFKA_LITE_GROUP_EVENTS", "12"))
LIMIT_S = 90
BROKER = {"group.min.session.timeout.ms": 500, "offsets.topic.num.partitions": 1, "num.io.threads": 8}


def nothing_is_left(cluster: Cluster, group_id: str) -> None:
    """After the last session has expired: no member, no timer."""
    coordinator = cluster.server.groups.coordinator
    eventually(lambda: not leftovers(coordinator, group_id), lambda: leftovers(coordinator, group_id), LIMIT_S)


@pytest.mark.soak
@pytest.mark.timeout(4 * LIMIT_S + WAVES * WAVE_S)
def test_a_storm_of_raw_members() -> None:
    with Cluster(BROKER) as cluster:
        storm = Storm(cluster, "storm", "stormy", PARTITIONS, MEMBERS)
        cluster.create_topic("stormy", PARTITIONS)
        storm.start()
        try:
            for _ in range(WAVES):
                threading.Event().wait(WAVE_S)
                storm.check()
                storm.wave += 1
            storm.phase = Phase.CALM
            eventually(storm.is_settled, storm.describe, LIMIT_S)
            acknowledged = storm.ledger.acknowledged
            before = dict(acknowledged)
            eventually(lambda: all(acknowledged.get(each, -1) > before.get(each, -1) for each in range(PARTITIONS)))
        finally:
            storm.end(LIMIT_S)
        storm.check()
        assert {"leaves", "is killed", "is killed while it joins", "is paused"} <= storm.ledger.counts.keys()
        nothing_is_left(cluster, "storm")
        last, generations = check_history(history_in_log(cluster, "storm"))
        assert all(last[partition] >= offset for partition, offset in acknowledged.items())
        assert generations > WAVES


# ── real consumers ────────────────────────────────────────────────────────────────────────────────────────────────────


class Produced:
    """Writes records all the time, and checks that committed offsets never go back."""

    def __init__(self, cluster: Cluster, group_id: str, topic: str) -> None:
        self._cluster, self._topic = cluster, topic
        self._member = RawMember(cluster.bootstrap_servers, group_id, topic, "watcher")
        self._random = random.Random(7)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.failure: Exception | None = None
        self.records: set[tuple[int, int]] = set()
        self.committed: dict[int, int] = dict.fromkeys(range(PARTITIONS), -1)

    def __enter__(self) -> Self:
        self._member.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._member.vanish()

    def stop(self) -> None:
        """Stop writing. Raises the error that ended it, if any."""
        self._stopping.set()
        self._thread.join(patient_s(LIMIT_S))
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        try:
            while not self._stopping.wait(0.05):
                partition = self._random.randrange(PARTITIONS)
                self.records.add((partition, self._cluster.produce(self._topic, "record", partition=partition)))
                self.look()
        except Exception as failure:  # noqa: BLE001 - the test raises it
            self.failure = failure

    def look(self) -> dict[int, int]:
        """Check what is committed."""
        found = self._member.committed(range(PARTITIONS))
        back = {partition for partition, offset in found.items() if offset < self.committed[partition]}
        assert not back, f"{back} went back from {self.committed} to {found}"
        self.committed = found
        return found


class RealMembers:
    """Fifty consumers in five processes, which are killed and replaced, paused, or told to leave and join again."""

    def __init__(self, cluster: Cluster, group_id: str, topic: str) -> None:
        self._config = {
            "bootstrap.servers": cluster.bootstrap_servers, "group.id": group_id, "auto.offset.reset": "earliest",
            "enable.auto.commit": False, "partition.assignment.strategy": "range", "session.timeout.ms": 4000,
            "heartbeat.interval.ms": 500, "max.poll.interval.ms": 5000,
        }  # fmt: skip
        self._topic = topic
        self._random = random.Random(11)
        self._workers = [self._start(number) for number in range(PROCESSES)]
        self._killed: list[GroupWorker] = []

    def _start(self, number: int) -> GroupWorker:
        names = [f"process-{number}-{each}" for each in range(MEMBERS // PROCESSES)]
        return GroupWorker(self._config, self._topic, names)

    def one_thing_happens(self) -> None:
        """To one process, or to one of its members."""
        number = self._random.randrange(PROCESSES)
        worker = self._workers[number]
        name = self._random.choice(worker.members)
        match self._random.choice(["kill", "stop", "pause", "pause", "leave", "leave"]):
            case "kill":
                worker.kill()
                self._killed.append(worker)
                self._workers[number] = self._start(number)
            case "stop":
                worker.stop()
                threading.Timer(6, worker.go_on).start()
            case "pause":
                worker.tell("pause", name, 7)
            case "leave":
                worker.tell("leave", name)
                worker.tell("join", name)

    def offsets(self, kind: str) -> set[tuple[int, int]]:
        """(partition, offset) of everything read, or committed, by live and killed consumers."""
        return set().union(*(worker.offsets(kind) for worker in [*self._workers, *self._killed]))

    def failed(self) -> list[list[str]]:
        """Consumers that have ended, and why."""
        return [line for worker in self._workers for line in worker.said("failed")]

    def close(self) -> None:
        """Let all members leave."""
        for worker in self._workers:
            worker.close()

    def kill(self) -> None:
        """Leave no process running, however the test ended."""
        for worker in self._workers:
            worker.kill()


def shares(cluster: Cluster, group_id: str) -> list[set[TopicPartition]]:
    """The partitions of each member if the group is stable, otherwise nothing."""
    group = cluster.server.groups.group_manager.get_group(group_id)
    if group is None:
        return []
    with group.lock:
        if not group.is_in(GroupState.STABLE):
            return []
        assignments = [member.assignment for member in group.members.values()]
    return [set(deserialize_assignment(assignment).partitions) for assignment in assignments]


@pytest.mark.soak
@pytest.mark.timeout(5 * LIMIT_S)
def test_a_storm_of_real_members() -> None:
    with Cluster(BROKER) as cluster, ExitStack() as stack:
        cluster.create_topic("flights", PARTITIONS)
        GroupByHand(cluster, "real")  # waits for the coordinator
        produced = stack.enter_context(Produced(cluster, "real", "flights"))
        members = RealMembers(cluster, "real", "flights")
        stack.callback(members.kill)
        for _ in range(EVENTS):
            threading.Event().wait(1)
            members.one_thing_happens()
            owned = [partition for share in shares(cluster, "real") for partition in share]
            assert len(owned) == len(set(owned)), "two members own one partition"

        def all_are_there() -> bool:
            owned = shares(cluster, "real")
            return len(owned) == MEMBERS and sorted(map(len, owned)) == [1] * 40 + [2] * 10

        eventually(all_are_there, lambda: [*map(len, shares(cluster, "real")), *members.failed()], LIMIT_S)
        assert len(set().union(*shares(cluster, "real"))) == PARTITIONS
        produced.stop()
        eventually(lambda: produced.records <= members.offsets("read"), "all records are read", LIMIT_S)
        members.close()
        committed = produced.look()
        assert all(committed[partition] >= offset for partition, offset in members.offsets("committed"))
        nothing_is_left(cluster, "real")


def test_a_member_paused_beyond_its_session_cannot_commit() -> None:
    with Cluster(BROKER) as cluster:
        cluster.create_topic("paused", 1)
        GroupByHand(cluster, "paused")  # waits for the coordinator

        def member(name: str) -> RawMember:
            where = (cluster.bootstrap_servers, "paused", "paused", name)
            return RawMember(*where, session_timeout_ms=6000, rebalance_timeout_ms=500)

        with member("first") as first, member("second") as second:
            become_the_owner(first)
            assert first.commit({0: 10}) is Errors.NONE
            become_the_owner(second)  # once the first member's session has expired
            assert second.generation > first.generation
            assert first.commit({0: 5}) is Errors.UNKNOWN_MEMBER_ID
            first.member_id = second.member_id
            assert first.commit({0: 5}) is Errors.ILLEGAL_GENERATION
            assert second.committed([0]) == {0: 10}
            assert second.commit({0: 11}) is Errors.NONE


def become_the_owner(member: RawMember) -> None:
    assert member.join() is Errors.NONE
    assert member.sync(lambda member_ids: dict.fromkeys(member_ids, b"0")) is Errors.NONE
    assert member.assignment == b"0"
