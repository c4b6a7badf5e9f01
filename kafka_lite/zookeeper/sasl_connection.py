"""Authenticates kazoo's connections to ZooKeeper by SASL (DIGEST-MD5).

kazoo's own support needs a further library, and gives a connection up for good if the server is stopped meanwhile.

Kafka 3.9: core/.../zookeeper/ZooKeeperClient.scala (AuthFailed); ZooKeeper 3.8: zookeeper-server/.../client/
ZooKeeperSaslClient.java · book 7.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from kazoo.exceptions import ConnectionDropped
from kazoo.protocol.connection import ConnectionHandler
from kazoo.protocol.serialization import SASL

from kafka_lite.zookeeper.digest_md5 import DigestError, DigestMd5Client

logger = logging.getLogger(__name__)


class ZkLogin(NamedTuple):
    """The user that a client is to ZooKeeper."""

    username: str
    password: str

    def __repr__(self) -> str:
        return f"ZkLogin({self.username})"


class SaslConnectionHandler(ConnectionHandler):  # type: ignore[misc]
    """Authenticates each new connection, before any request is sent."""

    def __init__(self, client: Any, login: ZkLogin, authenticated: Callable[[bool], None], log: logging.Logger) -> None:
        """``authenticated``: told of each authentication whether it succeeded."""
        super().__init__(client, client._conn_retry.copy(), logger=log, sasl_options={"mechanism": "DIGEST-MD5"})
        self._login = login
        self._authenticated = authenticated

    def _authenticate_with_sasl(self, _host: str, timeout_s: float) -> None:
        """Raises ConnectionDropped if it fails: kazoo tries again, as Kafka's client does a second later."""
        try:
            self._exchange(timeout_s)
        except DigestError as error:
            self._authenticated(False)
            logger.error("ZooKeeper refuses the user %s: %s", self._login.username, error)
            raise ConnectionDropped(f"not authenticated: {error}") from error
        self._authenticated(True)

    def _exchange(self, timeout_s: float) -> None:
        """Send and take tokens until both sides have proved themselves. Raises DigestError, and what kazoo raises."""
        client = DigestMd5Client(*self._login)
        token, xid = b"", 0
        while not client.is_complete:
            xid += 1
            self._submit(SASL(token), timeout_s, xid)
            header, buffer, offset = self._header(timeout_s, proof_is_sent=bool(token))
            if header.err:
                raise DigestError("wrong user or password, or a server without SASL")
            challenge, _ = SASL.deserialize(buffer, offset)
            token = client.evaluate_challenge(challenge or b"")

    def _header(self, timeout_s: float, *, proof_is_sent: bool) -> tuple[Any, bytes, int]:
        """The next response. Some servers hang up in its place if the proof is wrong."""
        try:
            found: tuple[Any, bytes, int] = self._read_header(timeout_s)
        except ConnectionDropped as error:
            if proof_is_sent:
                raise DigestError("wrong user or password: it has closed the connection") from error
            raise
        return found
