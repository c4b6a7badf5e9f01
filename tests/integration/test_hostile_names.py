"""Names of users, groups and resources that try to be paths: each has a response, and touches no node but its own."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages import api_08_offset_commit as commit
from kafka_lite.protocol.messages import api_30_create_acls as create
from kafka_lite.protocol.messages import api_31_delete_acls as delete
from kafka_lite.protocol.messages import api_44_incremental_alter_configs as configs
from kafka_lite.protocol.messages import api_49_alter_client_quotas as quotas
from kafka_lite.protocol.messages import api_50_describe_user_scram_credentials as described
from kafka_lite.protocol.messages import api_51_alter_user_scram_credentials as scram
from kafka_lite.protocol.schema import Request
from kafka_lite.testing.cluster import Cluster

NAMES = ("..", ".", "a/../../controller", "../config", "/", "a\0b", "\x01", "%2e%2e", "é" * 200, "x" * 300, "\u2028\n")
TOPIC, LITERAL, READ, ALLOW, ANY = 2, 3, 3, 3, 1


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(
        {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer", "super.users": "User:ANONYMOUS"}
    ) as made:
        yield made


@pytest.fixture
def channel(cluster: Cluster) -> Iterator[BlockingChannel]:
    host, _, port = cluster.bootstrap_servers.rpartition(":")
    with BlockingChannel(host, int(port)) as made:
        yield made


def acl(name: str) -> create.CreateAclsRequest:
    creation = create.AclCreation(
        resource_type=TOPIC, resource_name=name, resource_pattern_type=LITERAL, principal=f"User:{name}", host="*",
        operation=READ, permission_type=ALLOW,
    )  # fmt: skip
    return create.CreateAclsRequest(creations=[creation])


def requests(name: str) -> Iterator[tuple[Request, int]]:
    """Everything whose names become znodes."""
    chosen = delete.DeleteAclsFilter(
        resource_type_filter=TOPIC, resource_name_filter=name, pattern_type_filter=LITERAL, principal_filter=None,
        host_filter=None, operation=ANY, permission_type=ANY,
    )  # fmt: skip
    password = {"mechanism": 1, "iterations": 4096, "salt": b"s", "salted_password": b"p" * 32}
    of_user = [quotas.EntityData(entity_type="user", entity_name=name)]
    rate = [quotas.OpData(key="producer_byte_rate", value=1.0)]
    partition = commit.OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
    yield acl(name), 1
    yield delete.DeleteAclsRequest(filters=[chosen]), 1
    yield scram.AlterUserScramCredentialsRequest(upsertions=[scram.ScramCredentialUpsertion(name=name, **password)]), 0
    yield described.DescribeUserScramCredentialsRequest(users=[described.UserName(name=name)]), 0
    yield quotas.AlterClientQuotasRequest(entries=[quotas.EntryData(entity=of_user, ops=rate)]), 0
    yield (
        configs.IncrementalAlterConfigsRequest(
            resources=[configs.AlterConfigsResource(resource_type=TOPIC, resource_name=name, configs=[])]
        ),
        0,
    )
    for group, topic in ((name, "t"), ("g", name)):
        asked = commit.OffsetCommitRequestTopic(name=topic, partitions=[partition])
        yield commit.OffsetCommitRequest(group_id=group, topics=[asked]), 0  # into ZooKeeper


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_each_has_a_response_and_the_connection_stays(
    cluster: Cluster, channel: BlockingChannel, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    zookeeper = cluster.server.zk_client.zookeeper
    roots, controller = zookeeper.children("/"), zookeeper.get("/controller")
    with caplog.at_level(logging.ERROR):
        for request, version in requests(name):
            channel.exchange(request, version)
    assert "Error when handling a request" not in caplog.text
    assert zookeeper.children("/") == roots
    assert zookeeper.get("/controller") == controller


@pytest.mark.parametrize("name", ["..", ".", "a\0b"])
def test_a_list_for_a_name_that_no_node_can_have_is_refused(channel: BlockingChannel, name: str) -> None:
    response = channel.exchange(acl(name), 1)
    assert isinstance(response, create.CreateAclsResponse)
    assert response.results[0].error_code == Errors.UNKNOWN_SERVER_ERROR.code
