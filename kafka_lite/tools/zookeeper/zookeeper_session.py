"""The tools' ZooKeeper sessions.

Kafka 0.10.2: core/.../utils/ZkUtils.scala (apply) · book 1.4.1
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from kafka_lite.common.process.log_levels import quiet
from kafka_lite.security.auth.login_configuration import zookeeper_login
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sasl_connection import ZkLogin

SESSION_TIMEOUT_MS = 30_000
CONNECTION_TIMEOUT_MS = 10_000
SILENT = logging.CRITICAL + 1


@contextmanager
def zookeeper_client(connect_string: str, *, set_acl: bool | None = None) -> Iterator[KafkaZkClient]:
    """A session with the cluster's ZooKeeper for the duration of the block. Raises ConnectionError.

    With a user in the JAAS login file, only that user may change the nodes that it creates, as in Kafka's tools;
    ``set_acl`` says otherwise.
    """
    login = zookeeper_login()
    zk_client = KafkaZkClient(
        connect_string,
        SESSION_TIMEOUT_MS,
        CONNECTION_TIMEOUT_MS,
        login=None if login is None else ZkLogin(*login),
        set_acl=login is not None if set_acl is None else set_acl,
    )
    # kazoo warns about every connection attempt; a tool reports a failure once.
    with quiet("kazoo", below=SILENT):
        zk_client.start()
    try:
        yield zk_client
    finally:
        with quiet("kazoo", below=SILENT):
            zk_client.close()
