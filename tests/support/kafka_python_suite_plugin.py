"""A pytest plugin that runs kafka-python's own integration tests with our broker.

The suite uses the broker at ``KAFKA_URI``, and takes ``KAFKA_VERSION`` for its version, which decides which requests
its clients send and which tests are skipped. Its source distribution lacks ``test/service.py``, which starts Java
servers, and the ``__init__.py`` of ``test``, a name that Python's own library has, too. Loaded before the suite is
collected (``-p tests.support.kafka_python_suite_plugin``), this plugin provides both, with ``test`` at
``KAFKA_PYTHON_TESTS``.

It also closes a gap in the client, so that a test does not wait in vain now and then:
see ``_keep_topics_named_meanwhile``.
"""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import pytest
from kafka.cluster import ClusterMetadata

_AUTHORIZER = "needs an authorizer"
_TRANSACTIONS = "needs transactions"
_REASSIGNMENT = "AlterPartitionReassignments and ListPartitionReassignments move replicas between brokers"
_INFERRED = "infers the version from the APIs that are served: it is as new as the newest, whatever version we say"

DESELECTED = {
    "test_admin_integration.py::test_create_describe_delete_acls": _AUTHORIZER,
    "test_admin_integration.py::test_alter_partition_reassignments": _REASSIGNMENT,
    "test_admin_integration.py::test_list_partition_reassignments": _REASSIGNMENT,
    "test_admin_integration.py::test_elect_leaders": "ElectLeaders chooses among several replicas",
    "test_admin_integration.py::test_describe_configs_broker_resource_returns_configs": "wants advertised.listeners to "
    "be changeable while the broker runs, as from 1.1 on; in 0.10 and here it is read-only",
    "test_producer_integration.py::test_transactional_producer_messages": _TRANSACTIONS,
    "test_producer_integration.py::test_transactional_producer_offsets": _TRANSACTIONS,
    "test_consumer_integration.py::test_kafka_version_infer": _INFERRED,
}
"""The tests that do not apply, each with the reason."""


class ExternalService:
    """In place of ``test.service.ExternalService``: a server that is started and stopped elsewhere."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port


class SpawnedService:
    """The suite would start Java servers with it; it starts none, since ``KAFKA_URI`` is set."""


def _keep_topics_named_meanwhile() -> None:
    """Make the client request topics that were named while it waited for the response to its last Metadata request.

    kafka-python 3.0.12 takes that response as complete, though it cannot contain them, and requests metadata again only
    after five minutes. So a consumer that subscribes right after its other thread has sent the first request, without
    topics, fetches nothing. On a busy machine this happens in one of 25 to 60 runs, with Kafka's own broker as well.
    """
    refresh = ClusterMetadata._do_refresh_metadata

    async def refresh_again_if_need_be(cluster: ClusterMetadata, node_id: object) -> None:
        asked = set(cluster._topics)
        await refresh(cluster, node_id)
        if not cluster._topics <= asked:
            cluster.request_update()

    ClusterMetadata._do_refresh_metadata = refresh_again_if_need_be


def _install() -> None:
    suite = types.ModuleType("test")
    suite.__path__ = [os.environ["KAFKA_PYTHON_TESTS"]]
    service = types.ModuleType("test.service")
    service.ExternalService = ExternalService  # type: ignore[attr-defined]
    service.SpawnedService = SpawnedService  # type: ignore[attr-defined]
    sys.modules |= {suite.__name__: suite, service.__name__: service}


_install()
_keep_topics_named_meanwhile()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the tests that do not apply; a name in the list that the suite does not have is an error.

    (Unless only failed tests are run again, for then only those are here.)
    """
    deselected = [item for item in items if _key(item) in DESELECTED]
    unknown = set(DESELECTED) - {_key(item) for item in deselected}
    if unknown and not config.getoption("lf"):
        raise pytest.UsageError(f"not in kafka-python's suite: {sorted(unknown)}")
    items[:] = [item for item in items if item not in deselected]
    config.hook.pytest_deselected(items=deselected)


def _key(item: pytest.Item) -> str:
    return f"{Path(item.path).name}::{item.name}"
