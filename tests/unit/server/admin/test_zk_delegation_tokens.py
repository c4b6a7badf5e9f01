"""Tokens in the nodes of a ZooKeeper as Kafka writes them, and two brokers that follow each other's changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.security.delegation_token.token_information import TokenInformation
from kafka_lite.server.admin.zk_delegation_tokens import (
    ZkDelegationTokenStore,
    decode_token,
    encode_token,
    token_changes,
)
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.znode_json import ZnodeDataError
from tests.support.fake_zookeeper import Tree, fake_zk

ALICE, BOB, CN = KafkaPrincipal("User", "alice"), KafkaPrincipal("User", "bob/é"), KafkaPrincipal("User", "CN=c,O=d e")
TOKEN = TokenInformation("uZ2wAbCd", ALICE, BOB, (CN,), 1, 3, 2)
OF_KAFKA = {  # written by 3.9.1
    "version": 3,
    "owner": "User%3Aalice",
    "tokenRequester": "User%3Abob%2F%C3%A9",
    "renewers": ["User%3ACN%3Dc%2CO%3Dd%20e"],
    "issueTimestamp": 1,
    "maxTimestamp": 3,
    "expiryTimestamp": 2,
    "tokenId": "uZ2wAbCd",
}


@pytest.fixture
def zk() -> KafkaZkClient:
    zk = fake_zk(Tree())
    ZkDelegationTokenStore(zk).create_paths()
    return zk


def test_a_token_is_written_as_kafka_writes_it() -> None:
    assert json.loads(encode_token(TOKEN)) == OF_KAFKA
    assert decode_token(json.dumps(OF_KAFKA).encode()) == TOKEN


@pytest.mark.parametrize("version", [1, 2])
def test_before_version_3_the_owner_was_the_requester(version: int) -> None:
    older = {**OF_KAFKA, "version": version}
    del older["tokenRequester"]
    assert decode_token(json.dumps(older).encode()).token_requester == ALICE


@pytest.mark.parametrize(
    "change",
    [
        {"version": 4},
        {"version": 0},
        {"version": "3"},
        {"owner": "alice"},
        {"owner": "User%3A%ff"},
        {"tokenRequester": None},
        {"renewers": "User%3Abob"},
        {"renewers": [7]},
        {"issueTimestamp": "1"},
        {"tokenId": None},
    ],
)
def test_data_of_another_kind_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ZnodeDataError, match="delegation token"):
        decode_token(json.dumps({**OF_KAFKA, **change}).encode())


def test_nodes_are_those_of_kafka(zk: KafkaZkClient) -> None:
    store = ZkDelegationTokenStore(zk)
    assert store.read("uZ2wAbCd") is None
    for _ in range(2):
        store.write(TOKEN)
    assert zk.zookeeper.get("/delegation_token/tokens/uZ2wAbCd")[0] == encode_token(TOKEN)
    assert (store.read("uZ2wAbCd"), store.token_ids()) == (TOKEN, ["uZ2wAbCd"])
    store.announce("uZ2wAbCd")
    (change,) = zk.zookeeper.children("/delegation_token/token_changes")
    assert change.startswith("token_change_")
    assert zk.zookeeper.get(f"/delegation_token/token_changes/{change}")[0] == b"uZ2wAbCd"
    for _ in range(2):
        store.delete("uZ2wAbCd")
    assert (store.read("uZ2wAbCd"), store.token_ids()) == (None, [])


def test_an_empty_node_is_no_token(zk: KafkaZkClient) -> None:
    zk.zookeeper.create("/delegation_token/tokens/empty", b"")
    assert ZkDelegationTokenStore(zk).read("empty") is None


def test_announcements_are_followed_and_bad_ones_skipped(zk: KafkaZkClient) -> None:
    heard: list[str] = []
    store = ZkDelegationTokenStore(zk)
    store.announce("before")
    token_changes(zk, heard.append, MockTime(start_ms=0)).startup()
    for token_id in ("", "a/b", "after"):
        store.announce(token_id)
    assert heard == ["before", "after"]
