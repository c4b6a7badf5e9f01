"""The same sequences of group requests to real Kafka: it answers what our coordinator answers, in the same states."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.group_sequences import NEW_CLIENTS, OLD_CLIENTS, TOPIC, Versions, replay
from tests.support.real_kafka import OLD, TODAYS, create_topics, real_kafka

pytestmark = pytest.mark.jvm

SEEDS = range(8)
STEPS = 120
GROUPS_AS_HERE = {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture(scope="module")
def todays_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_kafka(TODAYS, tmp_path_factory.mktemp("kafka"), GROUPS_AS_HERE) as bootstrap_servers:
        create_topics(bootstrap_servers, [TOPIC], 1, {})
        yield bootstrap_servers


@pytest.fixture(scope="module")
def old_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_kafka(OLD, tmp_path_factory.mktemp("kafka")) as bootstrap_servers:
        create_topics(bootstrap_servers, [TOPIC], 1, {})
        yield bootstrap_servers


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("versions", [OLD_CLIENTS, NEW_CLIENTS], ids=["old clients", "new clients"])
def test_todays_kafka_answers_the_same(todays_kafka: str, versions: Versions, seed: int) -> None:
    replay(todays_kafka, versions, seed, STEPS)


@pytest.mark.parametrize("seed", SEEDS)
def test_kafka_0_10_answers_the_same_but_for_what_is_known(old_kafka: str, seed: int) -> None:
    replay(old_kafka, OLD_CLIENTS, seed, STEPS, old_broker=True)
