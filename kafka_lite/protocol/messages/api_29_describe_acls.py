"""DescribeAcls: lists permissions.

Kafka 0.11: clients/.../common/requests/DescribeAclsRequest.java · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int8, int16, int32, string


class DescribeAclsRequest(Request, api_key=ApiKey.DESCRIBE_ACLS, versions="0-3", flexible="2+"):
    """A filter; null matches everything.

    v1  pattern_type_filter: literal names and prefixes (KIP-290)
    v2  compact lengths and tagged fields
    v3  resources of type user
    """

    # 1 any, 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7 user
    resource_type_filter: int = int8()
    resource_name_filter: str | None = string(nullable="0+")
    pattern_type_filter: int = int8(versions="1+", default=3)  # 1 any, 2 match, 3 literal, 4 prefixed
    principal_filter: str | None = string(nullable="0+")
    host_filter: str | None = string(nullable="0+")
    operation: int = int8()
    permission_type: int = int8()  # 2 deny, 3 allow


class AclDescription(Struct):
    """A binding: a principal, from a host, is allowed or denied an operation."""

    principal: str = string()
    host: str = string()
    operation: int = int8()
    permission_type: int = int8()  # 2 deny, 3 allow


class DescribeAclsResource(Struct):
    """A resource and its bindings."""

    resource_type: int = int8()  # 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7 user
    resource_name: str = string()
    pattern_type: int = int8(versions="1+", default=3)  # 3 literal, 4 prefixed
    acls: list[AclDescription] = array(AclDescription)


class DescribeAclsResponse(Response, api_key=ApiKey.DESCRIBE_ACLS, versions="0-3", flexible="2+"):
    """The bindings that match.

    v1  pattern_type
    v2  compact lengths and tagged fields
    v3  resources of type user
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    resources: list[DescribeAclsResource] = array(DescribeAclsResource)
