"""Brokers without sockets for the worker's connections to its source."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.old_consumer import client_utils
from kafka_lite.old_consumer.simple import simple_consumer
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.worker_source import WorkerSource


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> BlockingBrokers:
    """An empty network, which all fetchers of the test use."""
    network = BlockingBrokers()
    for module in (client_utils, simple_consumer):
        monkeypatch.setattr(module, "BlockingChannel", network.channel)
    return network


@pytest.fixture
def source(brokers: BlockingBrokers, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerSource]:
    source = WorkerSource(brokers, monkeypatch)
    yield source
    source.close()
