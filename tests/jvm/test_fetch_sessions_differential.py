"""The same sequences of fetch requests to real Kafka and to our broker, which must respond alike, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafka_lite.testing import Cluster
from tests.support.fetch_sequences import PARTITIONS, FetchPlayer, Outcome, Step, replay
from tests.support.real_kafka import TODAYS, create_topics, real_kafka

pytestmark = pytest.mark.jvm

SEEDS = range(12)
STEPS = 200
SLOTS = 8
"""Kafka has eight caches, each with an eighth of the slots: one each."""


@pytest.fixture(scope="module")
def our_broker() -> Iterator[str]:
    with Cluster({"log.retention.ms": -1}) as cluster:
        yield cluster.bootstrap_servers


@pytest.mark.parametrize("seed", SEEDS)
def test_current_kafka_responds_the_same(real_kafka_3_9: str, our_broker: str, seed: int) -> None:
    topics = (f"fetched-{seed}-a", f"fetched-{seed}-b")
    for broker in (real_kafka_3_9, our_broker):
        create_topics(broker, topics, PARTITIONS, {})
    seen = replay(our_broker, real_kafka_3_9, seed, STEPS, (*topics, f"missing-{seed}"))
    assert {"open: 0 new", "next: 0 own", "unknown session: 70 none"} <= seen
    assert {"repeat the epoch: 71 none", "skip an epoch: 71 none"} & seen


def test_a_full_cache_prefers_followers_as_kafkas_does(jvm: None, tmp_path: Path) -> None:
    slots = {"max.incremental.fetch.session.cache.slots": str(SLOTS)}
    with ExitStack() as stack:
        brokers = [
            stack.enter_context(Cluster(slots)).bootstrap_servers,
            stack.enter_context(real_kafka(TODAYS, tmp_path, slots)),
        ]
        outcomes = []
        for broker in brokers:
            create_topics(broker, ["t"], 2, {})
            outcomes.append(fill_the_cache(broker))
        ours, theirs = outcomes
        assert ours == theirs
        consumers, followers, still_there = ours
        assert consumers == ["new"] * SLOTS + ["none"], "no consumer is evicted for another"
        assert followers == ["new"] * SLOTS + ["none"], "every consumer is evicted for a follower, and no follower"
        assert still_there == [70] * SLOTS + [0] * SLOTS


def fill_the_cache(broker: str) -> tuple[list[str], list[str], list[int]]:
    """Open sessions of consumers and then of followers, one more than there are slots; then use each once more."""
    with ExitStack() as stack:
        stack.enter_context(FetchPlayer(broker, 12)).await_leaders(["t"], 2)
        new = lambda replica_id: stack.enter_context(FetchPlayer(broker, 12, replica_id))  # noqa: E731
        consumers, followers = ([new(replica_id) for _ in range(SLOTS + 1)] for replica_id in (-1, 9))
        opened = [[session_of(each.play(step("open"))) for each in players] for players in (consumers, followers)]
        used = [each.play(step("next")) for each in consumers[:SLOTS] + followers[:SLOTS]]
    return opened[0], opened[1], [each.error_code for each in used if isinstance(each, Outcome)]


def step(kind: str) -> Step:
    asked = (("t", 0, 0), ("t", 1, 0)) if kind == "open" else ()
    return Step(kind, 0, asked, (), 1 << 20, "")


def session_of(outcome: object) -> str:
    assert isinstance(outcome, Outcome)
    return outcome.session
