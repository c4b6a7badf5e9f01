"""A whole broker inside your own project's tests: ``from kafka_lite.testing import ApiKey, Cluster, Errors``.

The names are imported lazily, on first use, because pytest loads this package for its plugin in every run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_lite.common.errors import ApiError, Errors
    from kafka_lite.protocol.api_key import ApiKey
    from kafka_lite.testing.cluster import Cluster
    from kafka_lite.testing.cluster_broker import ClusterBroker
    from kafka_lite.testing.cluster_client import StoredRecord
    from kafka_lite.testing.connect.connect_cluster import ConnectCluster
    from kafka_lite.testing.connect.connect_worker import ConnectWorker
    from kafka_lite.testing.fault import Fault
    from kafka_lite.testing.network.cluster_network import ClusterNetwork
    from kafka_lite.testing.request_log import RequestLog, SeenRequest
    from kafka_lite.testing.security.cluster_security import ClusterSecurity
    from kafka_lite.testing.shifted_time import ShiftedTime

__all__ = [
    "ApiError",
    "ApiKey",
    "Cluster",
    "ClusterBroker",
    "ClusterNetwork",
    "ClusterSecurity",
    "ConnectCluster",
    "ConnectWorker",
    "Errors",
    "Fault",
    "RequestLog",
    "SeenRequest",
    "ShiftedTime",
    "StoredRecord",
]

_HOMES = {
    "ApiError": "kafka_lite.common.errors",
    "ApiKey": "kafka_lite.protocol.api_key",
    "Cluster": "kafka_lite.testing.cluster",
    "ClusterBroker": "kafka_lite.testing.cluster_broker",
    "ClusterNetwork": "kafka_lite.testing.network.cluster_network",
    "ClusterSecurity": "kafka_lite.testing.security.cluster_security",
    "ConnectCluster": "kafka_lite.testing.connect.connect_cluster",
    "ConnectWorker": "kafka_lite.testing.connect.connect_worker",
    "Errors": "kafka_lite.common.errors",
    "Fault": "kafka_lite.testing.fault",
    "RequestLog": "kafka_lite.testing.request_log",
    "SeenRequest": "kafka_lite.testing.request_log",
    "ShiftedTime": "kafka_lite.testing.shifted_time",
    "StoredRecord": "kafka_lite.testing.cluster_client",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
