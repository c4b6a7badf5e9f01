"""Errors of transactional requests in right and wrong orders, over the wire: those of Kafka 3.9.1."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.transaction_scripts import SCRIPTS, TOPIC, await_topics, play


@pytest.fixture(scope="module")
def bootstrap_server() -> Iterator[str]:
    with Cluster() as cluster:
        cluster.create_topic(TOPIC)
        await_topics(cluster.bootstrap_servers)
        yield cluster.bootstrap_servers


@pytest.mark.parametrize("name", SCRIPTS)
def test_errors_are_those_of_kafka(bootstrap_server: str, name: str) -> None:
    script = SCRIPTS[name]
    assert play(bootstrap_server, script) == [error for _, error in script]
