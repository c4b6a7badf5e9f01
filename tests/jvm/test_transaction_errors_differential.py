"""The table of errors of transactional requests is Kafka 3.9.1's own."""

from __future__ import annotations

import pytest

from tests.support.real_kafka import create_topics
from tests.support.transaction_scripts import SCRIPTS, TOPIC, await_topics, play

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def kafka(real_kafka_3_9: str) -> str:
    create_topics(real_kafka_3_9, [TOPIC], 1, {})
    await_topics(real_kafka_3_9)
    return real_kafka_3_9


@pytest.mark.parametrize("name", SCRIPTS)
def test_kafka_responds_as_the_table_says(kafka: str, name: str) -> None:
    script = SCRIPTS[name]
    assert play(kafka, script) == [error for _, error in script]
