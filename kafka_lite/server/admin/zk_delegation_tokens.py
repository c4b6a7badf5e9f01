"""Delegation tokens in ZooKeeper, and the nodes by which brokers announce their changes.

::

    /delegation_token/tokens/uZ2w…                 {"version":3,"owner":"User%3Aalice","tokenRequester":"User%3Aalice",
                                                    "renewers":["User%3Abob"],"issueTimestamp":1700000000000,
                                                    "maxTimestamp":…,"expiryTimestamp":…,"tokenId":"uZ2w…"}
    /delegation_token/token_changes/token_change_0000000000       uZ2w…

Principals are percent-encoded. Version 1 and 2 (1.1 to 3.2) have no requester: it was the owner.

Kafka 1.1: core/.../zk/ZkData.scala (DelegationTokenInfoZNode, DelegationTokenChangeNotificationZNode),
core/.../server/DelegationTokenManager.scala (toJsonCompatibleMap, fromBytes) · book 7.1.2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import Time
from kafka_lite.security.delegation_token.token_information import TokenInformation
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sanitizer import desanitize, sanitize
from kafka_lite.zookeeper.zk_errors import NoNodeError
from kafka_lite.zookeeper.zk_node_change_notification_listener import ZkNodeChangeNotificationListener
from kafka_lite.zookeeper.znode_json import ZnodeDataError, checked, decode_json, encode_json

DELEGATION_TOKEN = "/delegation_token"
TOKENS = f"{DELEGATION_TOKEN}/tokens"
TOKEN_CHANGES = f"{DELEGATION_TOKEN}/token_changes"
TOKEN_CHANGE_PREFIX = "token_change_"
CURRENT_VERSION = 3
SINCE_REQUESTER = 3


class ZkDelegationTokenStore:
    """``DelegationTokenStore`` on the nodes that Kafka has."""

    def __init__(self, zk_client: KafkaZkClient) -> None:
        self._zookeeper = zk_client.zookeeper

    def create_paths(self) -> None:
        """Create the parents of all nodes; the first thing that a broker with delegation tokens does."""
        self._zookeeper.ensure_paths([TOKEN_CHANGES, TOKENS])

    def token_ids(self) -> list[str]:
        """The ids of all tokens."""
        return self._zookeeper.children(TOKENS)

    def read(self, token_id: str) -> TokenInformation | None:
        """A token; None if it has no node, or an empty one. Raises ZnodeDataError."""
        try:
            data, _ = self._zookeeper.get(_path(token_id))
        except NoNodeError:
            return None
        return decode_token(data) if data else None

    def write(self, token: TokenInformation) -> None:
        """Create a token's node, or replace its value."""
        self._zookeeper.set_or_create(_path(token.token_id), encode_token(token))

    def delete(self, token_id: str) -> None:
        """Delete a token's node, if it is there."""
        try:
            self._zookeeper.delete(_path(token_id))
        except NoNodeError:
            return

    def announce(self, token_id: str) -> None:
        """Create the node by which other brokers hear of a change."""
        self._zookeeper.create(f"{TOKEN_CHANGES}/{TOKEN_CHANGE_PREFIX}", token_id.encode(), sequential=True)


def token_changes(
    zk_client: KafkaZkClient, changed: Callable[[str], None], time: Time
) -> ZkNodeChangeNotificationListener:
    """Follows the announcements. ``changed``: reads the token with this id again."""

    def process(data: bytes) -> None:
        token_id = data.decode("utf-8", "replace")
        if not token_id or "/" in token_id:
            raise ZnodeDataError(f"not a delegation token's id: {data!r}")
        changed(token_id)

    return ZkNodeChangeNotificationListener(zk_client.zookeeper, TOKEN_CHANGES, process, time)


def encode_token(token: TokenInformation) -> bytes:
    """The value of a token's node."""
    return encode_json(
        {
            "version": CURRENT_VERSION,
            "owner": sanitize(str(token.owner)),
            "tokenRequester": sanitize(str(token.token_requester)),
            "renewers": [sanitize(str(renewer)) for renewer in token.renewers],
            "issueTimestamp": token.issue_timestamp,
            "maxTimestamp": token.max_timestamp,
            "expiryTimestamp": token.expiry_timestamp,
            "tokenId": token.token_id,
        }
    )


def decode_token(data: bytes) -> TokenInformation:
    """Read the value of a token's node. Raises ZnodeDataError."""
    what = "a delegation token"
    value = decode_json(data, what)
    version = checked(value, "version", int, what)
    if not 0 < version <= CURRENT_VERSION:
        raise ZnodeDataError(f"{what}: unsupported version {version}")
    owner = _principal(checked(value, "owner", str, what))
    requester = owner
    if version >= SINCE_REQUESTER:
        requester = _principal(checked(value, "tokenRequester", str, what))
    return TokenInformation(
        token_id=checked(value, "tokenId", str, what),
        owner=owner,
        token_requester=requester,
        renewers=tuple(_principal(renewer) for renewer in checked(value, "renewers", list, what)),
        issue_timestamp=checked(value, "issueTimestamp", int, what),
        max_timestamp=checked(value, "maxTimestamp", int, what),
        expiry_timestamp=checked(value, "expiryTimestamp", int, what),
    )


def _principal(text: Any) -> KafkaPrincipal:
    if not isinstance(text, str):
        raise ZnodeDataError(f"a delegation token: {text!r} is not a principal")
    try:
        return KafkaPrincipal.parse(desanitize(text))
    except ValueError as error:
        raise ZnodeDataError(f"a delegation token: {error}") from None


def _path(token_id: str) -> str:
    return f"{TOKENS}/{token_id}"
