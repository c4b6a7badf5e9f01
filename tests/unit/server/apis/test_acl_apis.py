"""DescribeAcls, CreateAcls and DeleteAcls, with an authorizer in memory and without one."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.network.request import Request
from kafka_lite.protocol.framing import encode_response
from kafka_lite.protocol.messages import api_29_describe_acls as describe
from kafka_lite.protocol.messages import api_30_create_acls as create
from kafka_lite.protocol.messages import api_31_delete_acls as delete
from kafka_lite.security.authorizer.acl_authorizer import AclAuthorizer
from kafka_lite.server.apis.acl_apis import AclApis
from kafka_lite.server.auth.zk_acl_store import ZkAclStore
from tests.support.fake_zookeeper import Tree, fake_zk

REQUEST = cast(Request, None)
TOPIC, CLUSTER, LITERAL, READ, ALLOW, ANY = 2, 4, 3, 3, 3, 1
DISABLED = Errors.SECURITY_DISABLED.code
INVALID = Errors.INVALID_REQUEST.code


@pytest.fixture
def apis() -> AclApis:
    store = ZkAclStore(fake_zk(Tree()))
    store.create_paths()
    return AclApis(AclAuthorizer(store, MockTime()))


def creation(**fields: Any) -> create.AclCreation:
    given = {
        "resource_type": TOPIC,
        "resource_name": "orders",
        "resource_pattern_type": LITERAL,
        "principal": "User:alice",
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
    }
    return create.AclCreation(**{**given, **fields})


def everything(cls: Any) -> Any:
    return cls(
        resource_type_filter=ANY,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )


def ask(handle: Any, body: Any) -> Any:
    responses: list[Any] = []
    handle(REQUEST, body, responses.append)
    encode_response(responses[0], 3, 1)
    return responses[0]


def test_what_is_created_is_described_and_deleted(apis: AclApis) -> None:
    creations = [creation(), creation(operation=4), creation(resource_name="other", principal="User:bob")]
    results = ask(apis.handle_create_acls, create.CreateAclsRequest(creations=creations)).results
    assert [each.error_code for each in results] == [0, 0, 0]
    found = ask(apis.handle_describe_acls, everything(describe.DescribeAclsRequest)).resources
    assert {each.resource_name: [(acl.principal, acl.operation) for acl in each.acls] for each in found} == {
        "orders": [("User:alice", READ), ("User:alice", 4)],
        "other": [("User:bob", READ)],
    }
    of_alice = everything(delete.DeleteAclsFilter)
    of_alice.principal_filter = "User:alice"
    body = delete.DeleteAclsRequest(filters=[of_alice, everything(delete.DeleteAclsFilter)])
    first, second = ask(apis.handle_delete_acls, body).filter_results
    assert [acl.operation for acl in first.matching_acls] == [READ, 4]
    assert [acl.principal for acl in second.matching_acls] == ["User:bob"]
    assert ask(apis.handle_describe_acls, everything(describe.DescribeAclsRequest)).resources == []


def test_each_creation_has_its_own_error(apis: AclApis) -> None:
    bad = [
        creation(resource_name=""),
        creation(resource_type=CLUSTER, resource_name="mine"),
        creation(operation=99),
        creation(resource_pattern_type=ANY),
        creation(resource_name="a/b"),
    ]
    body = create.CreateAclsRequest(creations=[*bad[:2], creation(), *bad[2:]])
    results = ask(apis.handle_create_acls, body).results
    assert [each.error_code for each in results] == [INVALID, INVALID, 0, INVALID, INVALID, INVALID]
    assert "kafka-cluster" in results[1].error_message
    (found,) = ask(apis.handle_describe_acls, everything(describe.DescribeAclsRequest)).resources
    assert found.resource_name == "orders"


def test_without_an_authorizer_each_says_so() -> None:
    apis = AclApis(None)
    assert ask(apis.handle_describe_acls, everything(describe.DescribeAclsRequest)).error_code == DISABLED
    (result,) = ask(apis.handle_create_acls, create.CreateAclsRequest(creations=[creation()])).results
    assert (result.error_code, result.error_message) == (DISABLED, "No Authorizer is configured on the broker.")
    body = delete.DeleteAclsRequest(filters=[everything(delete.DeleteAclsFilter)])
    (deleted,) = ask(apis.handle_delete_acls, body).filter_results
    assert deleted.error_code == DISABLED
