"""One broker for all client suites: users mix clients, too."""

from collections.abc import Iterator

import pytest

from kafka_lite.testing.cluster import Cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


@pytest.fixture
def bootstrap(cluster: Cluster) -> str:
    return cluster.bootstrap_servers
