"""Over the wire, the broker behaves like its coordinator in memory; tests/jvm compares with real Kafka."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.group_sequences import NEW_CLIENTS, OLD_CLIENTS, TOPIC, Versions, replay


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    with Cluster() as cluster:
        cluster.create_topic(TOPIC)
        yield cluster.bootstrap_servers


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("versions", [OLD_CLIENTS, NEW_CLIENTS], ids=["old clients", "new clients"])
def test_a_sequence_of_requests(broker: str, versions: Versions, seed: int) -> None:
    replay(broker, versions, seed, 100)
