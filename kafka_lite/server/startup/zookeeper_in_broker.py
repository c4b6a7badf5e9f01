"""A broker's client of ZooKeeper, and the server inside a broker with ``zookeeper.connect=embedded``.

Kafka 0.10.2: core/.../server/KafkaServer.scala (initZk); there ZooKeeper is a process of its own · book 7.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import Time
from kafka_lite.security.auth.login_configuration import zookeeper_login, zookeeper_users
from kafka_lite.security.ssl.zookeeper_ssl import client_ssl_factory, has_client_certificate, parse_client
from kafka_lite.server.broker_metadata_checkpoint import read_broker_metadata
from kafka_lite.server.kafka_config import EMBEDDED, KafkaConfig
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sasl_connection import ZkLogin
from kafka_lite.zookeeper.zk_errors import ZkConnectionError

if TYPE_CHECKING:
    from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper

logger = logging.getLogger(__name__)

USUAL_ZOOKEEPER_PORT = 2181
USUAL_PORT_OR_ANY = -1
"""The ``zookeeper.embedded.port`` that uses the usual port, or any free one if that is in use."""
CONNECTION_ATTEMPTS = 3


def start_embedded_zookeeper(config: KafkaConfig) -> EmbeddedZooKeeper:
    """Start it on its data in ``zookeeper.embedded.dir`` (default: beside the first log directory).

    The last process of this broker is dead, since its ZooKeeper is. This process takes its place, so the session that
    registered it ends now. Raises KafkaError if the folder cannot be made, or the JAAS login file cannot be read.
    """
    # Not before it is needed: a broker of an ensemble has no use for its twenty modules.
    from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper

    directory = config.zk_embedded_dir or f"{config.log_dirs[0].rstrip('/')}-zookeeper"
    _make_directory(config, directory)
    port = config.zk_embedded_port
    # On the machine's clock, even if a test gives the broker another one: its sessions belong to real connections.
    zookeeper = EmbeddedZooKeeper(
        Path(directory),
        port=USUAL_ZOOKEEPER_PORT if port == USUAL_PORT_OR_ANY else port,
        any_port_if_in_use=port == USUAL_PORT_OR_ANY,
        sasl_users=zookeeper_users(),
    )
    known = read_broker_metadata(Path(directory) for directory in config.log_dirs)
    broker_id = known.broker_id if known is not None else config.broker_id
    zookeeper.start(end_owners_of=[paths.broker(broker_id)])
    return zookeeper


def _make_directory(config: KafkaConfig, directory: str) -> None:
    """Make it here, where an error can name the key that the folder comes from."""
    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        key = f"zookeeper.embedded.dir={directory}"
        if config.zk_embedded_dir is None:
            key = f"log.dirs={config.log_dirs[0]}, the embedded ZooKeeper beside it in {directory}"
        raise KafkaError(f"{key}: the folder cannot be created: {error.strerror}") from error


def new_zk_client(config: KafkaConfig, connect: str, time: Time) -> KafkaZkClient:
    """The broker's client of ZooKeeper: it logs in as the user of the JAAS file and uses TLS, where these are set.

    The ZooKeeper in this process is on the loopback interface and has no TLS. Raises ConfigError if
    ``zookeeper.set.acl`` is set without a user or a certificate, since its lists would have no owner, and for invalid
    stores; KafkaError if the login file cannot be read.
    """
    embedded = config.zk_connect == EMBEDDED
    login, set_acl = zookeeper_login(), config.values["zookeeper.set.acl"]
    values = parse_client(config.original)
    if set_acl and login is None and (embedded or not has_client_certificate(values)):
        file = "KAFKA_OPTS=-Djava.security.auth.login.config=FILE"
        why = f"needs a user: the section Client of the login file in {file}, or a certificate in a key store"
        raise ConfigError("zookeeper.set.acl", set_acl, why)
    factory = None if embedded else client_ssl_factory(values)
    return KafkaZkClient(
        connect,
        config.zk_session_timeout_ms,
        config.zk_connection_timeout_ms,
        time,
        None if login is None else ZkLogin(*login),
        set_acl=set_acl,
        wrap_socket=None if factory is None else factory.wrap_socket,
    )


def connect_to_embedded_zookeeper(new_client: Callable[[], KafkaZkClient]) -> KafkaZkClient:
    """Connect a client to the ZooKeeper of this process. Raises ZkConnectionError after three attempts.

    It is there. If it does not respond in time, this process itself was stopped meanwhile: by a signal, by a debugger,
    or because the machine was asleep.
    """
    for attempts_left in reversed(range(CONNECTION_ATTEMPTS)):
        client = new_client()
        try:
            client.start(create_chroot=True)
        except ZkConnectionError as error:
            if not attempts_left:
                raise
            logger.warning("%s Trying again: it runs in this process, which may have been paused", error)
        else:
            return client
    raise AssertionError("unreachable")
