"""The same sequences of group requests to real Kafka: its responses and states equal those of our coordinator."""

from __future__ import annotations

import pytest

from tests.support.group_sequences import NEW_CLIENTS, OLD_CLIENTS, TOPIC, Versions, replay
from tests.support.real_kafka import create_topics

pytestmark = pytest.mark.jvm

SEEDS = range(8)
STEPS = 120


@pytest.fixture(scope="module")
def todays_kafka(real_kafka_3_9: str) -> str:
    create_topics(real_kafka_3_9, [TOPIC], 1, {})
    return real_kafka_3_9


@pytest.fixture(scope="module")
def old_kafka(real_kafka_0_10_2: str) -> str:
    create_topics(real_kafka_0_10_2, [TOPIC], 1, {})
    return real_kafka_0_10_2


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("versions", [OLD_CLIENTS, NEW_CLIENTS], ids=["old clients", "new clients"])
def test_current_kafka_responds_the_same(todays_kafka: str, versions: Versions, seed: int) -> None:
    replay(todays_kafka, versions, seed, STEPS)


@pytest.mark.parametrize("seed", SEEDS)
def test_kafka_0_10_responds_the_same_except_for_known_differences(old_kafka: str, seed: int) -> None:
    replay(old_kafka, OLD_CLIENTS, seed, STEPS, old_broker=True)
