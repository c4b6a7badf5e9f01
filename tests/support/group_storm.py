"""Members of one group that join, leave, die and go silent all at once, and a ledger that checks their responses."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from kafka_learn.recording.group_by_hand import GroupByHand
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group import group_metadata_records as group_records
from kafka_lite.protocol.messages.group_records import GroupMetadataKey
from kafka_lite.testing.cluster import Cluster
from tests.support.group_sequences import NEW_CLIENTS, OLD_CLIENTS
from tests.support.patience import patient_s
from tests.support.raw_member import RawMember

TIMEOUTS_MS = {"session_timeout_ms": 1000, "rebalance_timeout_ms": 600}
"""So that much can happen: a rebalance waits for the dead."""
TIMEOUTS_OF_CALM_MS = {"session_timeout_ms": 6000, "rebalance_timeout_ms": 6000}
"""So that a slow machine comes to rest."""
PAUSE_S = 2 * TIMEOUTS_MS["session_timeout_ms"] / 1000
TURN_S = 0.15
"""A member's heartbeat interval; with each it commits."""
LUCK = 0.85
"""How likely it is that nothing happens to a member in a turn, or between join and sync."""
FENCED = {Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION, Errors.FENCED_INSTANCE_ID}
EVENTS = ("leaves", "leaves", "is killed", "is killed", "is killed while it joins", "is paused")


class Phase(Enum):
    """What the members may do at the moment."""

    STORM = "things happen to them"
    CALM = "nothing does"
    END = "one half leaves, the other half vanishes"


class LifeIsOver(Exception):
    """The end of a member; a new one takes its place."""


class Owner(NamedTuple):
    """The owner of a partition: a static member has a lasting name."""

    generation: int
    name: str


@dataclass
class Ledger:
    """The responses to all members, each checked against all earlier ones."""

    owners: dict[int, dict[int, Owner]] = field(default_factory=dict)
    """Of each generation."""
    acknowledged: dict[int, int] = field(default_factory=dict)
    """Of each partition the highest offset whose commit was answered without an error."""
    counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def takes(self, name: str, generation: int, partitions: Collection[int]) -> dict[int, int]:
        """A member was assigned partitions, which no other member may have in this generation. Returns the offsets
        that must be committed."""
        with self._lock:
            owners = self.owners.setdefault(generation, {})
            for partition in partitions:
                owner = owners.setdefault(partition, Owner(generation, name))
                assert owner.name == name, f"{partition} belongs to {owner} and to {name} in generation {generation}"
            return {partition: self.acknowledged.get(partition, -1) for partition in partitions}

    def commits(self, offsets: Mapping[int, int]) -> None:
        """A commit was acknowledged."""
        with self._lock:
            for partition, offset in offsets.items():  # the next owner may have reported its commit first
                self.acknowledged[partition] = max(offset, self.acknowledged.get(partition, -1))

    def happened(self, what: str) -> None:
        """Count an event."""
        with self._lock:
            self.counts[what] += 1


class Storm:
    """A group of raw members on a cluster, in threads of their own."""

    def __init__(self, cluster: Cluster, group_id: str, topic: str, partitions: int, members: int) -> None:
        self.bootstrap_servers = cluster.bootstrap_servers
        self.group_id, self.topic, self.partitions = group_id, topic, partitions
        self.ledger = Ledger()
        self.phase = Phase.STORM
        self.wave = 0
        """Going up: all who are there are killed at once, and come back at once."""
        self._group = GroupByHand(cluster, group_id)
        self.members = [StormMember(self, number) for number in range(members)]

    def start(self) -> None:
        """All of them join at once."""
        for member in self.members:
            member.start()

    def end(self, timeout_s: float) -> None:
        """Let all members end; raises the error of one of them, for instance that a request got no response."""
        self.phase = Phase.END
        for member in self.members:
            member.join(patient_s(timeout_s))
            assert not member.is_alive(), f"{member.name} is still waiting"

    def check(self) -> None:
        """Raises the error of one of them."""
        for member in self.members:
            if member.failure is not None:
                raise AssertionError(f"{member.name}: {member.failure!r}") from member.failure

    def is_settled(self) -> bool:
        """Whether all members are in a stable generation and own all partitions."""
        self.check()
        group = self._group.metadata
        if group is None or self._group.state != "STABLE" or len(group.members) != len(self.members):
            return False
        owners = self.ledger.owners.get(group.generation_id, {})
        return len(owners) == self.partitions and len(set(owners.values())) == len(self.members)

    def describe(self) -> str:
        """For assertion messages."""
        return f"{self._group}; {dict(self.ledger.counts)}"

    def assign(self, member_ids: Sequence[str]) -> dict[str, bytes]:
        """Assign the partitions to the members in turn."""
        ids = sorted(member_ids)
        return {
            member_id: b",".join(b"%d" % partition for partition in range(number, self.partitions, len(ids)))
            for number, member_id in enumerate(ids)
        }


class StormMember(threading.Thread):
    """One thread with successive members: old and new clients, every fifth a static member."""

    def __init__(self, storm: Storm, number: int) -> None:
        super().__init__(name=f"member-{number}", daemon=True)
        self._storm, self._number = storm, number
        self._random = random.Random(number)
        self._wave = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        """Until the storm is over and the members are released."""
        try:
            while self._storm.phase is not Phase.END:
                with suppress(LifeIsOver), self._new_client() as client:
                    self._live(client)
        except Exception as failure:  # noqa: BLE001 - the test raises it
            self.failure = failure

    def _new_client(self) -> RawMember:
        is_static = self._number % 5 == 0
        return RawMember(
            self._storm.bootstrap_servers,
            self._storm.group_id,
            self._storm.topic,
            self.name,
            versions=NEW_CLIENTS if is_static or self._number % 2 else OLD_CLIENTS,
            instance_id=self.name if is_static else None,
            **TIMEOUTS_MS,
        )

    def _live(self, client: RawMember) -> None:
        """From the connection to its end: generation after generation."""
        while self._storm.phase is not Phase.END:
            if self._joins(client):
                self._meets_fate(client)
                if self._syncs(client):
                    self._works(client)
        if self._number % 2:
            client.leave()

    # ── joining ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _joins(self, client: RawMember) -> bool:
        if self._storm.phase is not Phase.STORM:
            client.set_timeouts(**TIMEOUTS_OF_CALM_MS)
        return self._goes_on(client, client.join(), {Errors.UNKNOWN_MEMBER_ID, Errors.REBALANCE_IN_PROGRESS})

    def _syncs(self, client: RawMember) -> bool:
        return self._goes_on(client, client.sync(self._storm.assign), {Errors.REBALANCE_IN_PROGRESS, *FENCED})

    def _goes_on(self, client: RawMember, error: Errors, possible: Collection[Errors]) -> bool:
        """Whether there was no error; after UNKNOWN_MEMBER_ID it joins as a new member."""
        assert error is Errors.NONE or error in possible, error
        if error in (Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID):
            client.member_id = ""
        return error is Errors.NONE

    # ── working ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _works(self, client: RawMember) -> None:
        """Commit turn by turn, until the group rebalances."""
        offsets = self._begins(client)
        while self._storm.phase is not Phase.END:
            if not self._commits(client, offsets) or not self._heartbeats(client):
                return
            threading.Event().wait(TURN_S)
            self._meets_fate(client)

    def _begins(self, client: RawMember) -> dict[int, int]:
        """The committed offsets of the assigned partitions: none below any acknowledged commit."""
        partitions = [int(number) for number in client.assignment.split(b",") if number]
        at_least = self._storm.ledger.takes(self.name, client.generation, partitions)
        committed = client.committed(partitions) if partitions else {}
        for partition, offset in committed.items():
            assert offset >= at_least[partition], f"{partition} is at {offset}, {at_least[partition]} was acknowledged"
        return committed

    def _commits(self, client: RawMember, offsets: dict[int, int]) -> bool:
        if not offsets:
            return True
        for partition in offsets:
            offsets[partition] += 1
        error = client.commit(offsets, str(client.generation))
        if error is Errors.NONE:
            self._storm.ledger.commits(offsets)
        elif error in FENCED:
            self._storm.ledger.happened("a commit is fenced")
        return self._goes_on(client, error, {Errors.REBALANCE_IN_PROGRESS, *FENCED})

    def _heartbeats(self, client: RawMember) -> bool:
        return self._goes_on(client, client.heartbeat(), {Errors.REBALANCE_IN_PROGRESS, *FENCED})

    # ── events ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _meets_fate(self, client: RawMember) -> None:
        """Usually nothing; otherwise this member ends, or pauses for a while."""
        if self._storm.phase is not Phase.STORM:
            return
        if self._wave != self._storm.wave:
            self._wave = self._storm.wave
            raise LifeIsOver
        if self._random.random() < LUCK:
            return
        event = self._random.choice(EVENTS)
        self._storm.ledger.happened(event)
        if event == "is paused":
            threading.Event().wait(PAUSE_S)
            return  # and resumes as if it still had its partitions
        if event == "leaves":
            client.leave()
        elif event == "is killed while it joins":
            client.member_id = ""  # as a new member, while the group waits for the old one
            client.send_join()
        client.vanish()
        threading.Event().wait(self._random.uniform(0, 2 * TURN_S))
        raise LifeIsOver


class Commit(NamedTuple):
    """A commit in the log."""

    partition: int
    offset: int
    metadata: str


def history_in_log(cluster: Cluster, group_id: str) -> Iterator[int | Commit]:
    """Generations and commits of a group, in the order in which ``__consumer_offsets`` has them."""
    for record in cluster.records("__consumer_offsets"):
        key = group_records.read_key(record.key or b"")
        if key is None or key.group != group_id:
            continue
        assert record.value is not None, "nothing has expired"
        if isinstance(key, GroupMetadataKey):
            yield group_records.read_group_value(group_id, record.value, cluster.time).generation_id
        else:
            value = group_records.read_offset_value(record.value)
            yield Commit(key.partition, value.offset, value.metadata)


def check_history(history: Iterator[int | Commit]) -> tuple[dict[int, int], int]:
    """Each commit (its metadata is its generation) lies after its own generation's record and before the next one's,
    and each goes further than the previous one. Returns the last commits, and the last generation."""
    generation, last = 0, dict[int, int]()
    for event in history:
        if isinstance(event, int):
            assert event >= generation, f"generation {event} after {generation}"
            generation = event
        else:
            assert event.metadata == str(generation), f"{event} in generation {generation}"
            assert event.offset > last.get(event.partition, -1), f"{event} after {last[event.partition]}"
            last[event.partition] = event.offset
    return last, generation
