"""What tests and faults do to the sessions of brokers."""

from __future__ import annotations

import pytest

from kafka_lite.server.broker_process import free_port
from kafka_lite.testing import cluster_zookeeper
from kafka_lite.zookeeper.zk_errors import ZkConnectionError


def test_no_session_can_be_ended_while_zookeeper_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ``make chaos`` is then not possible, instead of a failure of the run."""
    monkeypatch.setattr(cluster_zookeeper, "TIMEOUT_MS", 100)
    with pytest.raises(ZkConnectionError, match="no ZooKeeper at 127"):
        cluster_zookeeper.end_session(f"127.0.0.1:{free_port()}", (1, b"password"))
