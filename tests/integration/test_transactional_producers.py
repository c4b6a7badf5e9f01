"""Our transactional producer with our broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.transaction_contract import TransactionContract


@pytest.fixture(scope="module", params=[1, 2], ids=["first-version", "second-version"])
def kafka(request: pytest.FixtureRequest) -> Iterator[str]:
    """In a new cluster whose protocol is older than the default, nothing is finalized."""
    protocol = {"inter.broker.protocol.version": "2.8", "log.message.format.version": "2.8"}
    with Cluster(protocol if request.param == 1 else {}) as cluster:
        yield cluster.bootstrap_servers
        adds = bool(cluster.requests.of("AddPartitionsToTxn") or cluster.requests.of("AddOffsetsToTxn"))
        bumps = {seen.version >= 5 for seen in cluster.requests.of("EndTxn")}
        assert (adds, bumps) == (request.param == 1, {request.param == 2})


class TestOnKafkaLite(TransactionContract):
    """The same as on Kafka."""
