"""Rebalances from the members' point of view: how long partitions are without a consumer.

group.initial.rebalance.delay.ms is 0 in all brokers: it is a fixed delay, the same everywhere, and would only hide what
follows it.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from bench.brokers import Broker
from bench.groups.committing_groups import WARM_UP, CommittingGroups
from bench.groups.group_members import SESSION_TIMEOUT_MS, GroupMembers, MemberProcess, Sight, Sights, await_condition
from bench.librdkafka import eager_producer
from bench.measure import SECONDS, TIMEOUT_S, Goal, Sample, Workload, ratio_at_most, topic

NO_LONGER = ratio_at_most(1.05)
"""Both brokers wait for the same timeouts, those of sessions and heartbeats: any other difference is chance."""
FIRST_RECORDS = "first record of all, s"
ONE_EACH = "one partition each, s"


@dataclass(frozen=True)
class MemberGoes:
    """One of two members of each group leaves or dies: the time until the other has read all partitions."""

    is_killed: bool
    groups: int
    partitions: int = 4
    goals: ClassVar[Mapping[str, Goal]] = {SECONDS: NO_LONGER}

    @property
    def name(self) -> str:
        how = f"is killed (-9), session of {SESSION_TIMEOUT_MS / 1000:.0f} s" if self.is_killed else "leaves"
        return f"a member {how}: all partitions consumed again"

    def run(self, broker: Broker) -> Sample:
        """The median over the groups, whose members go simultaneously."""
        with topic(broker, self.partitions) as name:
            one_record_each(broker, name, self.partitions)
            groups = [f"{name}-{number}" for number in range(self.groups)]
            sights: Sights = []
            see = sights.append
            with (
                GroupMembers(broker.bootstrap_servers, name, groups, "stayer", see) as stayers,
                MemberProcess(broker.bootstrap_servers, name, groups, see) as goers,
            ):
                stayers.join()
                await_condition(
                    "two members share the partitions",
                    lambda: all(is_shared(sights, group, self.partitions, 2) for group in groups),
                )
                gone_at = dict.fromkeys(groups, goers.kill()) if self.is_killed else goers.leave()
                await_condition(
                    "all partitions are consumed again",
                    lambda: all(len(seen_again(sights, group, gone_at[group])) == self.partitions for group in groups),
                )
        took_s = [max(seen_again(sights, group, gone_at[group]).values()) - gone_at[group] for group in groups]
        return {SECONDS: statistics.median(took_s)}


@dataclass(frozen=True)
class ManyJoin:
    """As many members as there are partitions join one group simultaneously; repeated with new groups.

    The duration depends on chance: a third of a second if one generation is enough, some two seconds if a late member
    makes all others rejoin, which they only notice with their next heartbeat, plus their own retry backoffs. So the
    mean of several repetitions is reported.
    """

    times: int
    members: int = 50
    goals: ClassVar[Mapping[str, Goal]] = {FIRST_RECORDS: NO_LONGER, ONE_EACH: NO_LONGER}

    @property
    def name(self) -> str:
        return f"{self.members} members join one group, mean of {self.times}"

    def run(self, broker: Broker) -> Sample:
        samples = [self._once(broker) for _ in range(self.times)]
        return {figure: statistics.mean(sample[figure] for sample in samples) for figure in (FIRST_RECORDS, ONE_EACH)}

    def _once(self, broker: Broker) -> Sample:
        with topic(broker, self.members) as name:
            one_record_each(broker, name, self.members)
            sights: Sights = []
            groups = [name] * self.members
            with GroupMembers(broker.bootstrap_servers, name, groups, "joiner", sights.append) as members:
                began = time.monotonic()
                members.join()
                await_condition(
                    "each member has its partition", lambda: is_shared(sights, name, self.members, self.members)
                )
                shared_at = max(sight.at_s for sight in owners(sights, name).values())
        first: dict[str, float] = {}
        for sight in sights:
            first.setdefault(sight.member, sight.at_s)
        return {FIRST_RECORDS: max(first.values()) - began, ONE_EACH: shared_at - began}


def groups_workloads(scale: float) -> list[Workload]:
    """The workloads of groups; ``scale`` 1 means ten groups, eight joins, ten seconds of commits."""
    groups = max(2, int(10 * scale))
    return [
        MemberGoes(is_killed=True, groups=groups),
        MemberGoes(is_killed=False, groups=groups),
        ManyJoin(max(1, int(8 * scale))),
        CommittingGroups(max(1, int(10 * scale)), int(WARM_UP * scale)),
    ]


def one_record_each(broker: Broker, name: str, partitions: int) -> None:
    """Produce one record to each partition. Raises RuntimeError if one is not acknowledged."""
    producer = eager_producer(broker, "all")
    for partition in range(partitions):
        producer.produce(name, b"record", partition=partition)
    if left := producer.flush(TIMEOUT_S):
        raise RuntimeError(f"{left} messages were not acknowledged within {TIMEOUT_S} s")


def owners(sights: Sights, group: str) -> dict[int, Sight]:
    """Partition -> the last sighting of its record, whose member owns the partition."""
    return {sight.partition: sight for sight in sorted(sights, key=lambda each: each.at_s) if sight.group == group}


def is_shared(sights: Sights, group: str, partitions: int, members: int) -> bool:
    """Whether exactly ``members`` members own the partitions, in equal shares."""
    shares = Counter(sight.member for sight in owners(sights, group).values())
    return len(shares) == members and set(shares.values()) == {partitions // members}


def seen_again(sights: Sights, group: str, since_s: float) -> dict[int, float]:
    """Partition -> time of the first sighting after ``since_s``, for each partition of the group consumed again."""
    seen: dict[int, float] = {}
    for sight in sorted(sights, key=lambda each: each.at_s):
        if sight.group == group and sight.at_s > since_s:
            seen.setdefault(sight.partition, sight.at_s)
    return seen
