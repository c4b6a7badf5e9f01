"""``kafka-lite connect-distributed`` without a broker: its file, its ready line, its ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import load_properties
from kafka_lite.connect.runtime.connect_clients import ConnectClients
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.tools.connect.connect_distributed import ConnectDistributed
from kafka_lite.tools.main import main
from tests.support.eventually import eventually

SHIPPED = Path(__file__).parents[4] / "config" / "connect-distributed.properties"


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The shipped worker, whose clients cannot be made."""

    def fail(*_: Any) -> None:
        raise KafkaError("no admin client")

    monkeypatch.setattr(ConnectClients, "topic_admin", fail)
    return load_properties(SHIPPED) | {"rest.port": "0"}


def test_the_shipped_file_has_kafkas_names() -> None:
    config = DistributedConfig(load_properties(SHIPPED))
    assert [config[f"{name}.storage.topic"] for name in ("config", "offset", "status")] == [
        "connect-configs", "connect-offsets", "connect-status",
    ]  # fmt: skip
    assert (config["group.id"], config["rest.port"]) == ("connect-cluster", 8083)


def test_a_worker_that_cannot_read_its_topics_ends(worker: dict[str, str]) -> None:
    connect = ConnectDistributed(worker)
    try:
        connect.startup()
        assert "REST interface http://127.0.0.1:" in connect.ready_line()
        assert connect.ready_line().endswith("group connect-cluster")
        eventually(lambda: connect.await_shutdown(0))
    finally:
        connect.shutdown()


def test_the_command_ends_with_1(worker: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect-distributed", str(SHIPPED), "--override", "rest.port=0"]) == 1
    printed = capsys.readouterr()
    assert "Connect started" in printed.out
    assert "kafka-lite connect-distributed: the server stopped by itself; see the log above" in printed.err


def test_a_key_that_is_missing_is_named(worker: dict[str, str]) -> None:
    del worker["config.storage.topic"]
    connect = ConnectDistributed(worker)
    with pytest.raises(ConfigError, match=r"Missing required configuration config\.storage\.topic"):
        connect.startup()
    connect.shutdown()


def test_a_file_has_to_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["connect-distributed"])
    assert ended.value.code == 2
    assert "WORKER.properties" in capsys.readouterr().err
