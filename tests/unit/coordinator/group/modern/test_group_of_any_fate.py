"""Groups of KIP-848 under any sequence of joins, departures, lost responses, failed appends and fail-overs."""

from __future__ import annotations

import random

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.topic_partitions import pairs
from tests.support.modern_groups import FakeTopics, ModernGroups, ModernMember


class Fate:
    """One group, and what happens to it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.groups = ModernGroups(topics=FakeTopics(t=5, u=3))
        self.members: list[ModernMember] = []
        self.born = 0

    def step(self) -> None:
        act = self.rng.choices(
            [self.join, self.leave, self.beat, self.change, self.refuse, self.fail_over, self.grow],
            [3, 1, 20, 1, 2, 1, 1],
        )[0]
        act()
        self.check()

    def join(self) -> None:
        if len(self.members) < 6:
            self.born += 1
            topics = self.rng.choice([["t"], ["t"], ["t", "u"], ["u"]])
            member = self.groups.member(f"m{self.born}", topics=topics, assignor=self.rng.choice([None, "range"]))
            self.members.append(member)
            member.heartbeat(lost=self.rng.random() < 0.1)

    def leave(self) -> None:
        if self.members:
            self.members.pop(self.rng.randrange(len(self.members))).leave()

    def beat(self) -> None:
        if self.members:
            self.rng.choice(self.members).heartbeat(lost=self.rng.random() < 0.2)

    def change(self) -> None:
        if self.members:
            member = self.rng.choice(self.members)
            member.topics = self.rng.choice([["t"], ["t", "u"]])
            member.heartbeat(full=True)

    def refuse(self) -> None:
        """The log refuses some changes, or is late with them."""
        log = self.groups.groups.offsets_log
        if self.rng.random() < 0.5:
            log.error = Errors.NOT_ENOUGH_REPLICAS
        else:
            log.held = []
        for _ in range(4):
            self.beat()
        log.error = Errors.NONE
        log.release()

    def fail_over(self) -> None:
        self.groups = self.groups.restart() if self.born else self.groups
        for member in self.members:
            member.groups = self.groups

    def grow(self) -> None:
        self.groups.topics.set("u", self.rng.randint(1, 6))

    def check(self) -> None:
        """No partition has two owners: neither in the coordinator\'s eyes, nor among what members think they have."""
        told = [pair for member in self.members for pair in member.owned]
        assert len(told) == len(set(told))
        if not self.born:
            return
        group = self.groups.group()
        noted = [
            pair for m in group.members.values() for part in (m.assigned, m.pending_revocation) for pair in pairs(part)
        ]
        assert len(noted) == len(set(noted))

    def end(self) -> None:
        """Once nothing happens any more, everyone has the target, and every partition has an owner."""
        if not self.members:
            return
        self.groups.settle(*self.members)
        group = self.groups.group()
        assert all(group.members[m.member_id].assigned == group.target[m.member_id] for m in self.members)
        read = {topic for member in self.members for topic in member.topics}
        expected = {
            (topic.topic_id, n)
            for topic in self.groups.topics.topics.values()
            if topic.name in read
            for n in range(topic.num_partitions)
        }
        assert {pair for member in self.members for pair in member.owned} == expected
        restarted = self.groups.restart().group()
        assert (restarted.members, restarted.target) == (group.members, group.target)


@pytest.mark.parametrize("seed", range(40))
def test_each_partition_has_at_most_one_owner_and_in_the_end_exactly_one(seed: int) -> None:
    fate = Fate(seed)
    for _ in range(120):
        fate.step()
    fate.end()
