"""Requests about access control lists.

Kafka 0.11: core/.../server/KafkaApis.scala (handleDescribeAcls, handleCreateAcls, handleDeleteAcls); since 2.8
AclApis.scala · book 2.3.5
"""

from __future__ import annotations

from typing import Any

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_29_describe_acls as describe
from kafka_lite.protocol.messages import api_30_create_acls as create
from kafka_lite.protocol.messages import api_31_delete_acls as delete
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AccessControlEntryFilter,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.authorizer import AclDeleteResult, Authorizer
from kafka_lite.security.authorizer.resource_pattern import (
    CLUSTER_NAME,
    PatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka_lite.server.apis.api_handler import Respond

NO_AUTHORIZER = "No Authorizer is configured on the broker."


class AclApis:
    """The handlers. Any broker has them: the lists are in ZooKeeper, and all brokers follow their changes."""

    def __init__(self, authorizer: Authorizer | None) -> None:
        self._authorizer = authorizer

    def handle_describe_acls(self, _request: Request, body: describe.DescribeAclsRequest, respond: Respond) -> None:
        """Respond with the bindings that the filter chooses, grouped by their patterns."""
        if self._authorizer is None:
            disabled = Errors.SECURITY_DISABLED.code
            respond(describe.DescribeAclsResponse(error_code=disabled, error_message=NO_AUTHORIZER))
            return
        found: dict[ResourcePattern, list[describe.AclDescription]] = {}
        for binding in self._authorizer.acls(_filter_of(body)):
            entry = binding.entry
            found.setdefault(binding.pattern, []).append(
                describe.AclDescription(
                    principal=entry.principal,
                    host=entry.host,
                    operation=entry.operation,
                    permission_type=entry.permission_type,
                )
            )
        resources = [
            describe.DescribeAclsResource(
                resource_type=pattern.resource_type,
                resource_name=pattern.name,
                pattern_type=pattern.pattern_type,
                acls=acls,
            )
            for pattern, acls in found.items()
        ]
        respond(describe.DescribeAclsResponse(error_message=None, resources=resources))

    def handle_create_acls(self, _request: Request, body: create.CreateAclsRequest, respond: Respond) -> None:
        """Add the bindings; each has its own result."""
        if self._authorizer is None:
            results: list[ApiError | None] = [Errors.SECURITY_DISABLED.exception(NO_AUTHORIZER)] * len(body.creations)
        else:
            bindings = [_binding_of(each) for each in body.creations]
            results = [_refusal(binding) for binding in bindings]
            valid = [binding for binding, error in zip(bindings, results, strict=True) if error is None]
            created = iter(self._authorizer.create_acls(valid))
            results = [next(created) if error is None else error for error in results]
        respond(create.CreateAclsResponse(results=[_creation_result(error) for error in results]))

    def handle_delete_acls(self, _request: Request, body: delete.DeleteAclsRequest, respond: Respond) -> None:
        """Remove what each filter chooses, and respond with it."""
        if self._authorizer is None:
            disabled = delete.DeleteAclsFilterResult(
                error_code=Errors.SECURITY_DISABLED.code, error_message=NO_AUTHORIZER
            )
            respond(delete.DeleteAclsResponse(filter_results=[disabled for _ in body.filters]))
            return
        deleted = self._authorizer.delete_acls([_filter_of(each) for each in body.filters])
        respond(
            delete.DeleteAclsResponse(
                filter_results=[
                    delete.DeleteAclsFilterResult(
                        error_message=None, matching_acls=[_matching(each) for each in results]
                    )
                    for results in deleted
                ]
            )
        )


def _filter_of(asked: Any) -> AclBindingFilter:
    return AclBindingFilter(
        ResourcePatternFilter(
            ResourceType.for_code(asked.resource_type_filter),
            asked.resource_name_filter,
            PatternType.for_code(asked.pattern_type_filter),
        ),
        AccessControlEntryFilter(
            asked.principal_filter,
            asked.host_filter,
            AclOperation.for_code(asked.operation),
            AclPermissionType.for_code(asked.permission_type),
        ),
    )


def _binding_of(creation: create.AclCreation) -> AclBinding:
    pattern = ResourcePattern(
        ResourceType.for_code(creation.resource_type),
        creation.resource_name,
        PatternType.for_code(creation.resource_pattern_type),
    )
    entry = AccessControlEntry(
        creation.principal,
        creation.host,
        AclOperation.for_code(creation.operation),
        AclPermissionType.for_code(creation.permission_type),
    )
    return AclBinding(pattern, entry)


def _refusal(binding: AclBinding) -> ApiError | None:
    """The reason to refuse a binding before the authorizer sees it."""
    if binding.pattern.resource_type is ResourceType.CLUSTER and binding.pattern.name != CLUSTER_NAME:
        return Errors.INVALID_REQUEST.exception(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not binding.pattern.name:
        return Errors.INVALID_REQUEST.exception("Invalid empty resource name")
    return None


def _creation_result(error: ApiError | None) -> create.AclCreationResult:
    if error is None:
        return create.AclCreationResult(error_message=None)
    return create.AclCreationResult(error_code=error.error.code, error_message=str(error))


def _matching(result: AclDeleteResult) -> delete.DeleteAclsMatchingAcl:
    pattern, entry, error = result.binding.pattern, result.binding.entry, result.error
    return delete.DeleteAclsMatchingAcl(
        error_code=0 if error is None else error.error.code,
        error_message=None if error is None else str(error),
        resource_type=pattern.resource_type,
        resource_name=pattern.name,
        pattern_type=pattern.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission_type,
    )
