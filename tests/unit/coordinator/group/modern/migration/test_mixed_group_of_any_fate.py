"""A group whose members are upgraded and downgraded one by one, under failed appends, late ones, and fail-overs."""

from __future__ import annotations

import random

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.current_assignment_builder import NO_EPOCH
from kafka_lite.coordinator.group.modern.migration import group_conversion
from tests.support.groups import GROUP
from tests.support.mixed_groups import ClassicClient, MixedGroups
from tests.support.modern_groups import FakeTopics, ModernMember

Client = ClassicClient | ModernMember


class Fate:
    """One group, and what happens to it. Each client is restarted as one of the other kind now and then."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.groups = MixedGroups(topics=FakeTopics(t=5, u=3))
        self.members: list[Client] = []
        self.born = 0
        self.kinds: set[bool] = set()
        for is_modern in (False, True):
            self.add(is_modern=is_modern)
            self.groups.run(*self.members)
            self.check()

    def step(self) -> None:
        act = self.rng.choices(
            [self.join, self.leave, self.switch, self.beat, self.refuse, self.fail_over], [2, 1, 1, 24, 1, 1]
        )[0]
        act()
        self.check()

    def join(self) -> None:
        if len(self.members) < 5:
            self.add(is_modern=self.rng.random() < 0.5)

    def add(self, *, is_modern: bool) -> None:
        self.born += 1
        topics = self.rng.choice([["t"], ["t", "u"]])
        if is_modern:
            member = self.groups.member(f"m{self.born}", topics=topics)
            self.members.append(member)
            member.heartbeat()
        else:
            self.members.append(self.groups.classic(f"c{self.born}", topics=topics))

    def leave(self) -> Client | None:
        if not self.members:
            return None
        gone = self.members.pop(self.rng.randrange(len(self.members)))
        if isinstance(gone, ClassicClient):
            gone.leave()
        else:
            self.groups.send(member_id=gone.member_id, member_epoch=-1)
        return gone

    def switch(self) -> None:
        """A client is stopped, and started with the other protocol."""
        gone = self.leave()
        if gone is not None:
            self.add(is_modern=isinstance(gone, ClassicClient))

    def beat(self) -> None:
        if self.members:
            self.groups.run(self.rng.choice(self.members), rounds=1)

    def refuse(self) -> None:
        """The log refuses some changes, or is late with them."""
        log = self.groups.groups.offsets_log
        if self.rng.random() < 0.5:
            log.error = Errors.NOT_ENOUGH_REPLICAS
        else:
            log.held = []
        for _ in range(4):
            self.rng.choice([self.beat, self.beat, self.switch])()
        log.error = Errors.NONE
        log.release()

    def fail_over(self) -> None:
        self.groups = self.groups.restart() if self.born else self.groups
        for member in self.members:
            if isinstance(member, ClassicClient):
                member.reconnect(self.groups)
            else:
                member.groups = self.groups

    def check(self) -> None:
        """No partition has two owners among what members think they have."""
        told = [pair for member in self.members for pair in member.owned]
        assert len(told) == len(set(told))
        group = self.groups.groups.manager.get_group(GROUP)
        if group is not None and self.members:
            self.kinds.add(group.modern is not None)

    def end(self) -> None:
        """Once nothing happens any more, every partition has an owner."""
        if not self.members:
            return
        for _ in range(6):  # members that vanished are removed when their sessions end
            self.groups.run(*self.members, rounds=3)
            self.groups.groups.sleep(9_500)
        self.groups.run(*self.members, rounds=12)
        read = {topic for member in self.members for topic in member.topics}
        expected = {
            (topic.topic_id, n)
            for topic in self.groups.topics.topics.values()
            if topic.name in read
            for n in range(topic.num_partitions)
        }
        assert {pair for member in self.members for pair in member.owned} == expected
        self.check()


@pytest.mark.parametrize("seed", range(25))
def test_each_partition_has_at_most_one_owner_and_in_the_end_exactly_one(seed: int) -> None:
    fate = Fate(seed)
    for _ in range(120):
        fate.step()
    fate.end()
    assert fate.kinds == {False, True}


@pytest.mark.parametrize("bug", ["forgets what members have", "gives away what others have"])
def test_seeds_find_a_planted_bug(monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    if bug == "forgets what members have":
        monkeypatch.setattr(group_conversion, "_not_taken", lambda _partitions, _taken: {})
    else:
        monkeypatch.setattr(ConsumerGroup, "epoch_of", lambda *_: NO_EPOCH)
    for seed in range(25):
        try:
            fate = Fate(seed)
            for _ in range(120):
                fate.step()
        except AssertionError:
            return
    raise AssertionError("no seed has found it")
