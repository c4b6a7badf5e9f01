"""zookeeper.properties: which keys and values are accepted, and which are rejected."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.tools.zookeeper.zookeeper_server_start import create_server


def test_the_file_that_kafka_ships_is_accepted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        server = create_server({
            "dataDir": str(tmp_path), "clientPort": "2182", "maxClientCnxns": "0", "admin.enableServer": "false",
        })  # fmt: skip
    assert server.data_dir == tmp_path
    assert server.connect_string == "127.0.0.1:2182"
    assert caplog.text == ""


def test_client_port_address_and_tick_time_are_applied(tmp_path: Path) -> None:
    server = create_server({"dataDir": str(tmp_path), "clientPortAddress": "0.0.0.0", "tickTime": "300"})
    assert server.host == "0.0.0.0"
    assert server.tick_time_ms == 300


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("clientPort", "70000"),
        ("clientPort", "x"),
        ("tickTime", "0"),
        ("forceSync", "perhaps"),
        ("server.1", "zoo1:2888:3888"),
        ("ssl.crl", "true"),
        ("dataLogDir", "/elsewhere"),
    ],
)
def test_unsupported_values_are_rejected_by_name(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=name):
        create_server({"dataDir": str(tmp_path), name: value})


def test_a_log_directory_equal_to_the_data_directory_is_accepted(tmp_path: Path) -> None:
    assert create_server({"dataDir": str(tmp_path), "dataLogDir": str(tmp_path)}).data_dir == tmp_path


def test_an_unknown_key_is_warned_about(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        create_server({"dataDir": str(tmp_path), "dataDri": "x"})
    assert "'dataDri'" in caplog.text
