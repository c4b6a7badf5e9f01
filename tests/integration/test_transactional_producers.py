"""Our transactional producer with our broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.transaction_contract import TransactionContract


@pytest.fixture(scope="module")
def kafka() -> Iterator[str]:
    with Cluster() as cluster:
        yield cluster.bootstrap_servers


class TestOnKafkaLite(TransactionContract):
    """The same as on Kafka."""
