"""The tools' ZooKeeper sessions.

Kafka 0.10.2: core/.../utils/ZkUtils.scala (apply) · book 1.4.1
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.security.auth.login_configuration import zookeeper_login
from kafka_lite.security.ssl.zookeeper_ssl import client_ssl_factory, client_values, has_client_certificate
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.poll_handler import WrapSocket
from kafka_lite.zookeeper.sasl_connection import ZkLogin

SESSION_TIMEOUT_MS = 30_000
CONNECTION_TIMEOUT_MS = 10_000
SILENT = logging.CRITICAL + 1


def add_zk_tls_argument(parser: argparse.ArgumentParser) -> None:
    """Kafka's flag for tools that connect to ZooKeeper."""
    parser.add_argument(
        "--zk-tls-config-file",
        type=Path,
        metavar="FILE",
        help="properties of TLS to ZooKeeper: zookeeper.ssl.client.enable, zookeeper.ssl.truststore.location, …",
    )


def zookeeper_tls(file: Path | None) -> WrapSocket | None:
    """TLS as the file or KAFKA_OPTS asks for; None for plain text. Raises ToolError."""
    return _tls(file)[0]


def _tls(file: Path | None) -> tuple[WrapSocket | None, bool]:
    """The same, and whether ZooKeeper knows the client by a certificate."""
    try:
        values = client_values(file)
        factory = client_ssl_factory(values)
    except OSError as error:
        raise ToolError(f"{file} cannot be read: {error.strerror}") from error
    except KafkaError as error:
        raise ToolError(str(error)) from error
    return None if factory is None else factory.wrap_socket, has_client_certificate(values)


@contextmanager
def zookeeper_client(
    connect_string: str, *, set_acl: bool | None = None, tls_config_file: Path | None = None
) -> Iterator[KafkaZkClient]:
    """A session with the cluster's ZooKeeper for the duration of the block. Raises ConnectionError, ToolError.

    With a user in the JAAS login file, or with a certificate, only that user may change the nodes that it creates, as
    in Kafka's tools; ``set_acl`` says otherwise. ``tls_config_file``: see ``zookeeper_tls``.
    """
    login = zookeeper_login()
    wrap_socket, is_known = _tls(tls_config_file)
    zk_client = KafkaZkClient(
        connect_string,
        SESSION_TIMEOUT_MS,
        CONNECTION_TIMEOUT_MS,
        login=None if login is None else ZkLogin(*login),
        set_acl=(login is not None or is_known) if set_acl is None else set_acl,
        wrap_socket=wrap_socket,
    )
    # kazoo warns about every connection attempt; a tool reports a failure once.
    with quiet("kazoo", below=SILENT):
        zk_client.start()
    try:
        yield zk_client
    finally:
        with quiet("kazoo", below=SILENT):
            zk_client.close()
