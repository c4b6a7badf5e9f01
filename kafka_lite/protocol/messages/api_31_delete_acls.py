"""DeleteAcls: permissions to remove.

Kafka 0.11: clients/.../common/requests/DeleteAclsRequest.java · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int8, int16, int32, string


class DeleteAclsFilter(Struct):
    """A filter; null matches everything."""

    # 1 any, 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7 user
    resource_type_filter: int = int8()
    resource_name_filter: str | None = string(nullable="0+")
    pattern_type_filter: int = int8(versions="1+", default=3)  # 1 any, 2 match, 3 literal, 4 prefixed
    principal_filter: str | None = string(nullable="0+")
    host_filter: str | None = string(nullable="0+")
    operation: int = int8()
    permission_type: int = int8()  # 2 deny, 3 allow


class DeleteAclsRequest(Request, api_key=ApiKey.DELETE_ACLS, versions="0-3", flexible="2+"):
    """Filters for the bindings to remove.

    v1  pattern_type_filter
    v2  compact lengths and tagged fields
    v3  resources of type user
    """

    filters: list[DeleteAclsFilter] = array(DeleteAclsFilter)


class DeleteAclsMatchingAcl(Struct):
    """A binding that matched."""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    resource_type: int = int8()  # 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7 user
    resource_name: str = string()
    pattern_type: int = int8(versions="1+", default=3)  # 3 literal, 4 prefixed
    principal: str = string()
    host: str = string()
    operation: int = int8()
    permission_type: int = int8()  # 2 deny, 3 allow


class DeleteAclsFilterResult(Struct):
    """The bindings that one filter removed."""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    matching_acls: list[DeleteAclsMatchingAcl] = array(DeleteAclsMatchingAcl)


class DeleteAclsResponse(Response, api_key=ApiKey.DELETE_ACLS, versions="0-3", flexible="2+"):
    """The bindings that each filter removed.

    v1  pattern_type
    v2  compact lengths and tagged fields
    v3  resources of type user
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    filter_results: list[DeleteAclsFilterResult] = array(DeleteAclsFilterResult)
