"""``kafka-lite zookeeper-server-start``: a standalone ZooKeeper server, for brokers in other processes.

Kafka 0.10.2: bin/zookeeper-server-start.sh, config/zookeeper.properties · book 1.4.1
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_data_dir

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Range, Type, ValidString
from kafka_lite.common.process.file_names import file_name_of
from kafka_lite.common.properties import load_properties
from kafka_lite.security.auth.login_configuration import zookeeper_users
from kafka_lite.security.ssl.zookeeper_ssl import SECURE_PORT_CONFIGS, client_id, server_ssl_context
from kafka_lite.tools.common import terminal
from kafka_lite.tools.server.foreground import (
    add_log_config_argument,
    add_override_argument,
    overrides,
    run_in_foreground,
)
from kafka_lite.zookeeper.embedded.embedded_zookeeper import JUTE_MAX_BUFFER_BYTES, EmbeddedZooKeeper
from kafka_lite.zookeeper.embedded.secure_server_cnxn import SecurePort

NAME = "zookeeper-server-start"
SUMMARY = "start a ZooKeeper server in the foreground"

logger = logging.getLogger(__name__)

DEFAULT_DATA_DIR = str(Path(user_data_dir("kafka-lite", appauthor=False)) / "zookeeper")

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
ZOOKEEPER_CONFIGS = (
    ConfigDef()
    .define("dataDir", Type.STRING, DEFAULT_DATA_DIR, HIGH, "Directory of the snapshots and transaction logs.")
    .define("clientPort", Type.INT, 2181, HIGH, "The port for clients; 0: any free port.", Range.between(0, 65535))
    .define("clientPortAddress", Type.STRING, "127.0.0.1", HIGH, "The address to listen on; 0.0.0.0: all of IPv4.")
    .define(
        "secureClientPort",
        Type.INT,
        None,
        HIGH,
        "The port for clients with TLS. Not set: none.",
        Range.between(0, 65535),
    )
    .define(
        "secureClientPortAddress",
        Type.STRING,
        None,
        HIGH,
        "The address of secureClientPort. Not set: clientPortAddress.",
    )
    .define("tickTime", Type.INT, 2000, MEDIUM, "The unit of session timeouts, ms.", Range.at_least(1))
    .define("minSessionTimeout", Type.INT, -1, MEDIUM, "The shortest session timeout, ms; -1: two ticks.")
    .define("maxSessionTimeout", Type.INT, -1, MEDIUM, "The longest session timeout, ms; -1: twenty ticks.")
    .define(
        "maxClientCnxns", Type.INT, 60, MEDIUM, "Maximum connections from one address; 0: no limit.", Range.at_least(0)
    )
    .define("snapCount", Type.INT, 100_000, LOW, "Number of transactions between snapshots.", Range.at_least(2))
    .define("autopurge.snapRetainCount", Type.INT, 3, LOW, "How many snapshots to keep.", Range.at_least(1))
    .define(
        "forceSync",
        Type.STRING,
        "yes",
        LOW,
        "Whether to flush transactions to disk before responding.",
        ValidString.in_("yes", "no"),
    )
    .define("jute.maxbuffer", Type.INT, JUTE_MAX_BUFFER_BYTES, LOW, "The longest request, bytes.", Range.at_least(1024))
    .define("extendedTypesEnabled", Type.BOOLEAN, False, LOW, "Whether to support znodes with a TTL.")
    .include(SECURE_PORT_CONFIGS)
)
"""ZooKeeper's keys. Deviation: by default, ZooKeeper listens on all interfaces."""

IGNORED = (
    "serverCnxnFactory",
    "authProvider.x509",
    "initLimit",
    "syncLimit",
    "admin.enableServer",
    "admin.serverPort",
    "autopurge.purgeInterval",
)
"""Keys of ordinary config files that have no effect here: there is no ensemble and no web server, and old snapshots
are deleted whenever a new one is written."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Kafka's argument, the file, plus ``--override`` and ``--log-config`` as for the broker."""
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="a zookeeper.properties file (default: built-in defaults)"
    )
    add_override_argument(parser)
    add_log_config_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Run the server until it is stopped; see ``run_in_foreground``."""

    def create() -> ForegroundZooKeeper:
        properties = load_properties(options.file) if options.file else {}
        return ForegroundZooKeeper(create_server(properties | overrides(options.override)))

    return run_in_foreground(NAME, create, options.log_config)


def create_server(properties: Mapping[str, str]) -> EmbeddedZooKeeper:
    """Create a server with this configuration. Raises ConfigError for invalid values and unsupported features.

    Raises KafkaError if the login file that KAFKA_OPTS names cannot be read.
    """
    _refuse_what_is_not_there(properties)
    for name in ZOOKEEPER_CONFIGS.unused(properties):
        if name not in IGNORED and name != "dataLogDir":
            logger.warning("The configuration '%s' was supplied but isn't a known config.", name)
    values = ZOOKEEPER_CONFIGS.parse(properties)
    return EmbeddedZooKeeper(
        file_name_of(values["dataDir"]),
        values["clientPortAddress"],
        None if "secureClientPort" in properties and "clientPort" not in properties else values["clientPort"],
        values["tickTime"],
        min_session_timeout_ms=_or_none(values["minSessionTimeout"]),
        max_session_timeout_ms=_or_none(values["maxSessionTimeout"]),
        force_sync=values["forceSync"] == "yes",
        snap_count=values["snapCount"],
        snap_retain_count=values["autopurge.snapRetainCount"],
        max_client_cnxns=values["maxClientCnxns"],
        max_packet_bytes=values["jute.maxbuffer"],
        extended_types_enabled=values["extendedTypesEnabled"],
        sasl_users=zookeeper_users(),
        secure_port=_secure_port(values),
    )


def _secure_port(values: Mapping[str, Any]) -> SecurePort | None:
    """As in ZooKeeper, a file with this port alone has no port in plain text."""
    if values["secureClientPort"] is None:
        return None
    address = values["secureClientPortAddress"]
    return SecurePort(server_ssl_context(values), client_id, values["secureClientPort"], address)


def _refuse_what_is_not_there(properties: Mapping[str, str]) -> None:
    """Raise ConfigError for keys of unsupported features: silently ignoring them would be misleading."""
    for name, value in properties.items():
        if name.startswith("server."):
            raise ConfigError(name, value, "this server is standalone; an ensemble needs Apache ZooKeeper")
        if name in ("ssl.crl", "ssl.ocsp") and value.strip().lower() == "true":
            raise ConfigError(name, value, "revoked certificates are not looked for; false accepts that")
    data_log_dir = properties.get("dataLogDir")
    if data_log_dir is not None and data_log_dir != properties.get("dataDir", DEFAULT_DATA_DIR):
        raise ConfigError(
            "dataLogDir", data_log_dir, "this server keeps transaction logs in dataDir, beside the snapshots"
        )


def _or_none(value: int) -> int | None:
    return None if value == -1 else value


class ForegroundZooKeeper:
    """An EmbeddedZooKeeper that runs in its own process."""

    def __init__(self, server: EmbeddedZooKeeper) -> None:
        self._server = server

    def startup(self) -> None:
        """Load the data and listen."""
        self._server.start()

    def ready_line(self) -> str:
        """The line with the server's address and data directory."""
        from kafka_lite import __version__

        started = terminal.styled(f"kafka_lite {__version__} ZooKeeper started", "bold green")
        return f"{started}: {self._server.connect_string}, dataDir={self._server.data_dir.resolve()}"

    def await_shutdown(self, timeout_s: float) -> bool:
        """Wait until the server has stopped; False after ``timeout_s``."""
        return self._server.await_shutdown(timeout_s)

    def shutdown(self) -> None:
        """Stop serving."""
        self._server.shutdown()
