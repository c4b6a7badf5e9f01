"""The same requests with and without each right: Kafka 3.9.1 with AclAuthorizer in ZooKeeper mode, and ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.clients.admin_client import ADMIN_CONFIG
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest
from kafka_lite.protocol.messages.api_30_create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from kafka_lite.protocol.messages.api_31_delete_acls import DeleteAclsFilter, DeleteAclsRequest, DeleteAclsResponse
from kafka_lite.security.authorizer.acl_binding import AclOperation, AclPermissionType
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourceType
from kafka_lite.security.channel_builders import client_channel_builder
from kafka_lite.server.auth.consumer_group_switch import OF_CONSUMER_GROUPS
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.cluster import Cluster
from tests.support.acl_answers import FILTERED, answer
from tests.support.acl_matrix import AUTHORIZATION_ERRORS, CASES, GROUP, Case, error_codes
from tests.support.eventually import eventually
from tests.support.real_kafka import HOST, TODAYS, real_kafka_with_zookeeper

pytestmark = [pytest.mark.jvm, pytest.mark.nightly]

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SETTINGS = {
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{MODULE} required user_alice="a";',
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
    "auto.create.topics.enable": "false",
}
TIMEOUT_MS = 60_000
BESIDE = [case for case in CASES if case.api_key not in OF_CONSUMER_GROUPS and not case.name.endswith("CONFIGS:group")]
"""With ZooKeeper, Kafka serves neither the groups of KIP-848 nor their configurations."""
ANY = 1


class Broker:
    """One broker, Kafka's or ours: the user alice has the rights of the moment."""

    def __init__(self, plain_port: int, sasl_port: int) -> None:
        self._admin = BlockingChannel(HOST, plain_port, read_timeout_ms=TIMEOUT_MS)
        self._admin.connect()
        self._sasl_port = sasl_port
        user = {"sasl.username": "alice", "sasl.password": "a", "bootstrap.servers": f"{HOST}:1"}
        keys = ADMIN_CONFIG.parse({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", **user})
        self._security = client_channel_builder(keys)
        topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in ("t", "u")]
        created = self._admin.exchange(CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS), 4)
        assert isinstance(created, CreateTopicsResponse)
        assert [each.error_code for each in created.topics] == [0, 0]
        for kind, key in enumerate(("g", "x")):
            eventually(lambda kind=kind, key=key: self._has_coordinator(kind, key))  # type: ignore[misc]
        for group in ("g", "h"):
            eventually(lambda group=group: self._commits(group))  # type: ignore[misc]
        for transaction in ("x", "y"):
            eventually(lambda transaction=transaction: self._begins(transaction))  # type: ignore[misc]

    def _has_coordinator(self, kind: int, key: str) -> bool:
        """Whether the topics of groups and transactions are there, which the first question creates."""
        response = self._admin.exchange(FindCoordinatorRequest(key=key, key_type=kind), 2)
        assert isinstance(response, FindCoordinatorResponse)
        return response.error_code == 0

    def _commits(self, group: str) -> bool:
        """Whether an offset of both topics is committed, so that there is such a group."""
        partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="")]
        topics = [OffsetCommitRequestTopic(name=name, partitions=partitions) for name in ("t", "u")]
        response = self._admin.exchange(
            OffsetCommitRequest(group_id=group, generation_id_or_member_epoch=-1, member_id="", topics=topics), 7
        )
        return set(error_codes(response)) == {0}

    def _begins(self, transactional_id: str) -> bool:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=TIMEOUT_MS)
        return error_codes(self._admin.exchange(request, 1)) == [0]

    def known_versions(self, case: Case) -> list[Case]:
        """The request in each version that both serve: ours has later ones than Kafka with ZooKeeper."""
        response = self._admin.exchange(ApiVersionsRequest(), 0)
        assert isinstance(response, ApiVersionsResponse)
        highest = {each.api_key: each.max_version for each in response.api_keys}
        return [each for each in case.in_every_version() if each.version <= highest[case.api_key]]

    def close(self) -> None:
        self._admin.close()

    def ask(self, case: Case, rights: Iterable[str]) -> Any:
        """The response to alice, while she has these rights only."""
        self._allow(rights)
        try:
            how = {"read_timeout_ms": TIMEOUT_MS, "security": self._security}
            with BlockingChannel(HOST, self._sasl_port, **how) as channel:  # type: ignore[arg-type]
                return channel.exchange(case.request(), case.version)
        finally:
            self._allow_nothing()

    def _allow(self, rights: Iterable[str]) -> None:
        creations = []
        for right in rights:
            operation, kind, name = right.split()
            creations.append(
                AclCreation(
                    resource_type=ResourceType[kind],
                    resource_name=name,
                    resource_pattern_type=PatternType.LITERAL,
                    principal="User:alice",
                    host="*",
                    operation=AclOperation[operation],
                    permission_type=AclPermissionType.ALLOW,
                )
            )
        if creations:
            response = self._admin.exchange(CreateAclsRequest(creations=creations), 1)
            assert isinstance(response, CreateAclsResponse)
            assert {each.error_code for each in response.results} == {0}

    def _allow_nothing(self) -> None:
        everything = DeleteAclsFilter(
            resource_type_filter=ANY, resource_name_filter=None, pattern_type_filter=ANY, principal_filter=None,
            host_filter=None, operation=ANY, permission_type=ANY,
        )  # fmt: skip
        response = self._admin.exchange(DeleteAclsRequest(filters=[everything]), 1)
        assert isinstance(response, DeleteAclsResponse)
        assert {each.error_code for each in response.filter_results} == {0}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder: Path = tmp_path_factory.mktemp("kafka")
    plain, sasl = free_port(), free_port()
    listeners = {"listeners": f"PLAINTEXT://{HOST}:{plain},SASL_PLAINTEXT://{HOST}:{sasl}"}
    with real_kafka_with_zookeeper(TODAYS, folder, SETTINGS | listeners, port=plain):
        broker = Broker(plain, sasl)
        yield broker
        broker.close()


@pytest.fixture(scope="module")
def ours() -> Iterator[Broker]:
    listeners = {"listeners": f"PLAINTEXT://{HOST}:0,SASL_PLAINTEXT://{HOST}:0"}
    with Cluster(SETTINGS | listeners) as cluster:
        broker = Broker(cluster.server.bound_port("PLAINTEXT"), cluster.server.bound_port("SASL_PLAINTEXT"))
        yield broker
        broker.close()


def loses_the_groups_error(case: Case, rights: Sequence[str]) -> bool:
    """Version 1 of OffsetFetch: 3.9 has no error and no topics, as if nothing was committed.

    0.10.2 and 4.x have the group's error for each partition, and so have we.
    """
    return case.api_key is ApiKey.OFFSET_FETCH and case.version == 1 and "DESCRIBE GROUP g" not in rights


@pytest.mark.parametrize("case", BESIDE, ids=lambda case: case.name)
def test_both_refuse_the_same(theirs: Broker, ours: Broker, case: Case) -> None:
    for each in theirs.known_versions(case):
        for missing in case.rights:
            left = [right for right in case.rights if right != missing]
            found, expected = ours.ask(each, left), theirs.ask(each, left)
            if loses_the_groups_error(each, left):
                assert (error_codes(expected), error_codes(found)) == ([0], [GROUP, 0])
                continue
            assert error_codes(found) == error_codes(expected), f"version {each.version} without {missing}"
            assert answer(found) == answer(expected), f"version {each.version} without {missing}"
    for broker in (theirs, ours):
        assert not AUTHORIZATION_ERRORS & set(error_codes(broker.ask(case, case.rights)))


@pytest.mark.parametrize("case", FILTERED, ids=lambda case: case.name)
def test_both_leave_out_the_same(theirs: Broker, ours: Broker, case: Case) -> None:
    seen = []
    for each in theirs.known_versions(case):
        chosen = [[right for right in case.rights if right != missing] for missing in case.rights]
        for rights in ([], *chosen, list(case.rights)):
            found, expected = answer(ours.ask(each, rights)), answer(theirs.ask(each, rights))
            if loses_the_groups_error(each, rights):
                continue
            assert found == expected, f"version {each.version} with {rights}"
            seen.append(repr(found))
    assert len(set(seen)) > 1, "rights that change nothing show nothing"
