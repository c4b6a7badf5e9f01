"""Brokers without sockets for the old producer's connections."""

from __future__ import annotations

import pytest

from kafka_lite.old_producer import sync_producer
from tests.support.blocking_brokers import BlockingBrokers


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> BlockingBrokers:
    """An empty network, which all old producers of the test use."""
    network = BlockingBrokers()
    monkeypatch.setattr(sync_producer, "BlockingChannel", network.channel)
    return network
