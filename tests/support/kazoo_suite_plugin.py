"""A pytest plugin that runs kazoo's own test suite with the embedded ZooKeeper.

kazoo's harness starts Java servers through ``kazoo.testing.common``. Loaded before the suite is collected
(``-p tests.support.kazoo_suite_plugin``), this plugin replaces that module by one of the same name, whose cluster
consists of ``EmbeddedZooKeeperProcess`` es with the same interface, stop and start included. The original's imports
(OpenSSL, jks: the keys of the Java servers) are then not needed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.embedded_zookeeper_process import EmbeddedZooKeeperProcess

# One standalone server: kazoo's default of three would be three different trees.
os.environ.setdefault("ZOOKEEPER_CLUSTER_SIZE", "1")
os.environ.setdefault("ZOOKEEPER_VERSION", "3.8.0")

_ONE_SERVER = "needs a second server of the same ensemble to move to"
_SASL = "the embedded server has no SASL"

DESELECTED = {
    "test_connection.py::TestReadOnlyMode::test_read_only": "read-only is what an ensemble's server is without its "
    "quorum",
    "test_client.py::TestReconfig::test_no_super_auth": "reconfiguration is for ensembles: answered with "
    "ReconfigDisabled",
    "test_client.py::TestReconfig::test_bad_input": "reconfiguration is for ensembles",
    "test_client.py::TestReconfig::test_add_remove_observer": "reconfiguration is for ensembles",
    "test_client.py::TestSSLClient::test_create": "the embedded server has no TLS: it serves its own machine",
    "test_client.py::TestClient::test_update_host_list": _ONE_SERVER,
    "test_eventlet_handler.py::TestEventletClient::test_update_host_list": _ONE_SERVER,
    "test_gevent_handler.py::TestGeventClient::test_update_host_list": _ONE_SERVER,
    "test_sasl.py::TestLegacySASLDigestAuthentication::test_connect_sasl_auth": _SASL,
    "test_sasl.py::TestSASLDigestAuthentication::test_connect_sasl_auth": _SASL,
}
"""The tests that do not apply, each with the reason."""


class ManagedZooKeeper:
    """In place of ``kazoo.testing.common.ManagedZooKeeper``."""

    def __init__(self) -> None:
        self.working_path = tempfile.mkdtemp(prefix="kazoo-suite-")
        self._process = EmbeddedZooKeeperProcess(Path(self.working_path, "data"))

    @property
    def address(self) -> str:
        if not self._process.port:
            self.run()
        return self._process.connect_string

    @property
    def client_port(self) -> int:
        return self._process.port

    @property
    def running(self) -> bool:
        return self._process.is_running

    def run(self) -> None:
        if not self.running:
            self._process.start()

    def stop(self) -> None:
        self._process.terminate()

    def reset(self) -> None:
        self.stop()
        shutil.rmtree(self._process.data_dir, ignore_errors=True)

    def destroy(self) -> None:
        self.stop()
        shutil.rmtree(self.working_path, ignore_errors=True)

    def get_logs(self, num_lines: int = 100) -> list[str]:
        return []


class ZookeeperCluster:
    """In place of ``kazoo.testing.common.ZookeeperCluster``."""

    def __init__(self, size: int = 1, **_: Any) -> None:
        self._servers = [ManagedZooKeeper() for _ in range(size)]

    def __getitem__(self, index: int) -> ManagedZooKeeper:
        return self._servers[index]

    def __iter__(self) -> Iterator[ManagedZooKeeper]:
        return iter(self._servers)

    def start(self) -> None:
        for server in self:
            server.run()

    def stop(self) -> None:
        for server in self:
            server.stop()

    def terminate(self) -> None:
        for server in self:
            server.destroy()

    def reset(self) -> None:
        for server in self:
            server.reset()

    def get_logs(self) -> list[str]:
        return []


def _install() -> None:
    module = types.ModuleType("kazoo.testing.common")
    module.ZookeeperCluster = ZookeeperCluster  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module


_install()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the tests that do not apply; a name in the list that the suite does not have is an error."""
    deselected = [item for item in items if _key(item) in DESELECTED]
    if len(deselected) != len(DESELECTED) and len(items) > 200:
        unknown = set(DESELECTED) - {_key(item) for item in deselected}
        raise pytest.UsageError(f"not in kazoo's suite: {sorted(unknown)}")
    items[:] = [item for item in items if item not in deselected]
    config.hook.pytest_deselected(items=deselected)


def _key(item: pytest.Item) -> str:
    return item.nodeid.rpartition("/")[2]
