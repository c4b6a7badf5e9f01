"""Our assignors compared with Kafka's: the same groups through the same rebalances."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.builtin_assignors import assignors_of
from kafka_lite.consumer.assignors.partition_assignor import Subscription
from kafka_lite.consumer.assignors.sticky_assignor import encode_user_data
from tests.support.jvm import classpath, compile_java, run_java

pytestmark = pytest.mark.jvm

SOURCE = Path(__file__).with_name("Assignors.java")
JARS = ("org.apache.kafka:kafka-clients:3.9.1", "org.slf4j:slf4j-nop:1.7.36")
HISTORIES, REBALANCES = 12, 12
NODE = Node(0, "h", 1)


@dataclass(frozen=True)
class Case:
    """One rebalance."""

    assignor: str
    counts: dict[str, int]
    topics: dict[str, tuple[str, ...]]
    owned: dict[str, set[TopicPartition]]
    generations: dict[str, int]

    def line(self) -> str:
        head = " ".join([self.assignor, *(f"{topic}={count}" for topic, count in self.counts.items())])
        members = [
            f"{member} {self.generations[member]} {','.join(topics)} {names(self.owned[member])}"
            for member, topics in self.topics.items()
        ]
        return " | ".join([head, *members])

    def result(self) -> dict[str, set[TopicPartition]]:
        infos = [PartitionInfo(topic, n, NODE) for topic, count in self.counts.items() for n in range(count)]
        subscriptions = {}
        for member, topics in self.topics.items():
            owned, generation = tuple(sorted(self.owned[member])), self.generations[member]
            if self.assignor == "sticky":
                said = encode_user_data(owned, generation) if generation >= 0 else None
                subscriptions[member] = Subscription(topics, said, (), generation)
            else:
                subscriptions[member] = Subscription(topics, None, owned, generation)
        (assignor,) = assignors_of([self.assignor], {})
        assignment = assignor.assign(Cluster((NODE,), tuple(infos)), subscriptions)
        return {member: set(share.partitions) for member, share in assignment.items()}

    @property
    def is_determined(self) -> bool:
        """Whether Kafka's result does not depend on the order of a hash table.

        It does if more members exceed their share than may keep an extra partition; and with different subscriptions.
        """
        if "sticky" not in self.assignor:
            return True
        if len(set(self.topics.values())) > 1:
            return False
        wanted = set(next(iter(self.topics.values())))
        quota, extra = divmod(sum(count for topic, count in self.counts.items() if topic in wanted), len(self.topics))
        return sum(len(owned) > quota for owned in self.owned.values()) <= extra or extra == 0


def names(partitions: set[TopicPartition]) -> str:
    return ",".join(sorted(map(str, partitions))) or "-"


def shown(result: dict[str, set[TopicPartition]]) -> str:
    return " ".join(f"{member} {names(share)}" for member, share in sorted(result.items()))


def history(assignor: str, rng: random.Random) -> Iterator[Case]:
    """A group whose members join and leave, and whose topics grow; each rebalance starts from our previous result."""
    names_of_topics = ["t", "u", "v"][: rng.randint(1, 3)]
    counts = {topic: rng.randint(1, 7) for topic in names_of_topics}
    topics: dict[str, tuple[str, ...]] = {}
    owned: dict[str, set[TopicPartition]] = {}
    generations: dict[str, int] = {}
    same = rng.random() < 0.8
    for number in range(REBALANCES):
        some = rng.sample(names_of_topics, rng.randint(1, len(names_of_topics)))
        topics[f"m{number}"] = tuple(names_of_topics if same else sorted(some))
        if len(topics) > 1 and rng.random() < 0.4:
            del topics[rng.choice(sorted(topics))]
        if rng.random() < 0.2:
            counts[rng.choice(names_of_topics)] = rng.randint(1, 9)
        owned = {m: {p for p in owned.get(m, ()) if p.partition < counts[p.topic]} for m in topics}
        generations = {member: generations.get(member, -1) for member in topics}
        case = Case(assignor, dict(counts), dict(topics), owned, generations)
        yield case
        owned, generations = case.result(), dict.fromkeys(topics, number)


def test_the_same_rebalances_give_the_same_assignments() -> None:
    rng = random.Random(5)
    cases = [
        case
        for assignor in ("range", "roundrobin", "sticky", "cooperative-sticky")
        for _ in range(HISTORIES)
        for case in history(assignor, rng)
    ]
    jars = classpath(*JARS)
    lines = "".join(f"{case.line()}\n" for case in cases)
    theirs = run_java("Assignors", classpath=[compile_java(SOURCE, jars), *jars], stdin=lines).stdout.splitlines()
    assert len(theirs) == len(cases)
    determined = 0
    for case, answer in zip(cases, theirs, strict=True):
        if case.is_determined:
            determined += 1
            assert shown(case.result()) == answer, case.line()
        else:
            sizes = sorted(0 if share == "-" else share.count(",") + 1 for share in answer.split()[1::2])
            if len(set(case.topics.values())) == 1 and case.assignor == "sticky":
                assert sizes == sorted(map(len, case.result().values())), case.line()
    assert determined > 0.7 * len(cases)
