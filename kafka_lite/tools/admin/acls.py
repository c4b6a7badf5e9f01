"""``kafka-lite acls``: show, add and remove access control lists.

Kafka 0.10.2: core/.../admin/AclCommand.scala, bin/kafka-acls.sh; through brokers: Kafka 2.1 · book 7.3.2
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.protocol.messages import api_29_describe_acls as describe
from kafka_lite.protocol.messages import api_30_create_acls as create
from kafka_lite.protocol.messages import api_31_delete_acls as delete
from kafka_lite.security.authorizer.acl_binding import (
    WILDCARD_HOST,
    WILDCARD_PRINCIPAL,
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.acl_messages import creation_of, described_bindings
from kafka_lite.security.authorizer.resource_pattern import CLUSTER_NAME, PatternType, ResourcePattern, ResourceType
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_error
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors

F = TypeVar("F", describe.DescribeAclsRequest, delete.DeleteAclsFilter)

NAME = "acls"
SUMMARY = "show, add and remove access control lists: who may do what with topics, groups and the cluster"

RESOURCE_FLAGS = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional-id": ResourceType.TRANSACTIONAL_ID,
    "delegation-token": ResourceType.DELEGATION_TOKEN,
}
_OP, TOPIC, GROUP, TXN = AclOperation, ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
PRODUCER_OPERATIONS = {
    TOPIC: (_OP.WRITE, _OP.DESCRIBE, _OP.CREATE),
    TXN: (_OP.WRITE, _OP.DESCRIBE),
}
"""``--producer``: what one needs to write to a topic, and to a transactional id if there is one."""
CONSUMER_OPERATIONS = {TOPIC: (_OP.READ, _OP.DESCRIBE), GROUP: (_OP.READ,)}
"""``--consumer``: what one needs to read a topic in a group."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-acls.sh."""
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT", help="brokers to connect to")
    actions = parser.add_mutually_exclusive_group(required=True)
    actions.add_argument("--add", action="store_true", help="add access control lists")
    actions.add_argument("--remove", action="store_true", help="remove access control lists")
    actions.add_argument("--list", action="store_true", help="show access control lists, of these resources or of all")
    for flag in RESOURCE_FLAGS:
        parser.add_argument(f"--{flag}", action="append", default=[], metavar="NAME", help=f"a {flag}; * for all")
    parser.add_argument("--cluster", action="store_true", help="the cluster")
    parser.add_argument(
        "--resource-pattern-type",
        choices=["literal", "prefixed", "any", "match"],
        default="literal",
        help="how names are meant; any and match only choose what to show or remove",
    )
    several: dict[str, Any] = {"action": "append", "default": []}
    for flag in ("allow", "deny"):
        parser.add_argument(f"--{flag}-principal", **several, metavar="TYPE:NAME", help=f"{flag} this user")
        parser.add_argument(f"--{flag}-host", **several, metavar="IP", help=f"{flag} from this address; default: all")
    parser.add_argument("--principal", **several, metavar="TYPE:NAME", help="with --list: only those of this user")
    parser.add_argument("--operation", **several, metavar="OPERATION", help="Read, Write, …; default: All")
    parser.add_argument("--producer", action="store_true", help="what a producer of the topics needs")
    parser.add_argument("--consumer", action="store_true", help="what a consumer of the topics in the group needs")
    parser.add_argument("--idempotent", action="store_true", help="with --producer: without transactions, before 3.0")
    parser.add_argument("--force", action="store_true", help="remove without asking, as this tool always does")
    add_command_config_argument(parser)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Show, add or remove; returns 1 on error."""
    patterns = _patterns(options)
    with admin_channel(options) as channel:
        if options.add:
            _add(channel, sorted(_bindings(options, patterns)))
        elif options.remove:
            _remove(channel, options, patterns)
        _list(channel, patterns, options.principal)
    return 0


def _patterns(options: argparse.Namespace) -> list[ResourcePattern]:
    """The resources that the flags name. Raises ToolError."""
    kind = PatternType[options.resource_pattern_type.upper()]
    if options.add and kind not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise ToolError("--add needs --resource-pattern-type literal or prefixed")
    found = [
        ResourcePattern(resource_type, name.strip(), kind)
        for flag, resource_type in RESOURCE_FLAGS.items()
        for name in getattr(options, flag.replace("-", "_"))
    ]
    if options.cluster or (options.idempotent and options.add):
        found.append(ResourcePattern(ResourceType.CLUSTER, CLUSTER_NAME))
    if not found and not options.list:
        raise ToolError("name a resource: --topic, --group, --cluster, --transactional-id")
    return found


# ── Bindings of the flags


def _bindings(options: argparse.Namespace, patterns: list[ResourcePattern]) -> set[AclBinding]:
    """The lists that the flags describe. Raises ToolError."""
    if options.producer or options.consumer:
        return set(_of_conveniences(options, patterns))
    operations = [_operation(name) for name in options.operation] or [AclOperation.ALL]
    return {binding for pattern in patterns for binding in _entries(options, pattern, operations)}


def _of_conveniences(options: argparse.Namespace, patterns: list[ResourcePattern]) -> Iterator[AclBinding]:
    types = {pattern.resource_type for pattern in patterns}
    if TOPIC not in types or (options.consumer and GROUP not in types):
        raise ToolError("--producer needs a --topic, --consumer a --topic and a --group")
    if options.operation or options.deny_principal:
        raise ToolError("--producer and --consumer know their operations, and only allow")
    wanted: dict[ResourceType, set[AclOperation]] = {}
    for chosen, table in ((options.producer, PRODUCER_OPERATIONS), (options.consumer, CONSUMER_OPERATIONS)):
        for resource_type, operations in table.items() if chosen else ():
            wanted.setdefault(resource_type, set()).update(operations)
    if options.producer and options.idempotent:
        wanted[ResourceType.CLUSTER] = {AclOperation.IDEMPOTENT_WRITE}
    for pattern in patterns:
        yield from _entries(options, pattern, sorted(wanted.get(pattern.resource_type, ())))


def _entries(
    options: argparse.Namespace, pattern: ResourcePattern, operations: Iterable[AclOperation]
) -> Iterator[AclBinding]:
    if not options.allow_principal and not options.deny_principal:
        raise ToolError("--add needs --allow-principal or --deny-principal, such as User:alice")
    for permission, principals, hosts in (
        (AclPermissionType.ALLOW, options.allow_principal, options.allow_host),
        (AclPermissionType.DENY, options.deny_principal, options.deny_host),
    ):
        for principal in map(_principal, principals):
            for host in hosts or [WILDCARD_HOST]:
                for operation in operations:
                    yield AclBinding(pattern, AccessControlEntry(principal, host.strip(), operation, permission))


def _principal(text: str) -> str:
    try:
        return str(KafkaPrincipal.parse(text.strip()))
    except ValueError as error:
        raise ToolError(f"{error}; {WILDCARD_PRINCIPAL} is everyone") from None


def _operation(name: str) -> AclOperation:
    operation = AclOperation.for_name(name.strip())
    if operation in (AclOperation.UNKNOWN, AclOperation.ANY):
        valid = ", ".join(each.name.title().replace("_", "") for each in AclOperation if each > AclOperation.ANY)
        raise ToolError(f"{name} is no operation; valid: {valid}")
    return operation


# ── Requests


def _add(channel: AdminChannel, bindings: list[AclBinding]) -> None:
    creations = list(map(creation_of, bindings))
    response = channel.send(create.CreateAclsRequest(creations=creations), create.CreateAclsResponse)
    for result in response.results:
        if result.error_code:
            raise Errors.for_code(result.error_code).exception(result.error_message)


def _remove(channel: AdminChannel, options: argparse.Namespace, patterns: list[ResourcePattern]) -> None:
    """Remove the lists that the flags describe; without a principal, all of the resources."""
    filters = []
    if options.allow_principal or options.deny_principal:
        for binding in sorted(_bindings(options, patterns)):
            entry = binding.entry
            chosen = _filter(delete.DeleteAclsFilter, binding.pattern)
            chosen.principal_filter, chosen.host_filter = entry.principal, entry.host
            chosen.operation, chosen.permission_type = entry.operation, entry.permission_type
            filters.append(chosen)
    else:
        filters = [_filter(delete.DeleteAclsFilter, pattern) for pattern in patterns]
    response = channel.send(delete.DeleteAclsRequest(filters=filters), delete.DeleteAclsResponse)
    for result in response.filter_results:
        check_error(result.error_code, result.error_message)
        for deleted in result.matching_acls:
            check_error(deleted.error_code, deleted.error_message)


def _list(channel: AdminChannel, patterns: list[ResourcePattern], principals: list[str]) -> None:
    """Print the lists of the resources, or of all resources."""
    found: dict[ResourcePattern, set[AccessControlEntry]] = {}
    chosen: list[ResourcePattern | None] = [*patterns]
    for pattern in chosen or [None]:
        request = _filter(describe.DescribeAclsRequest, pattern)
        response = channel.send(request, describe.DescribeAclsResponse)
        check_error(response.error_code, response.error_message)
        for resource in response.resources:
            for binding in described_bindings(resource):
                found.setdefault(binding.pattern, set()).add(binding.entry)
    wanted = {_principal(each) for each in principals}
    for pattern, entries in sorted(found.items()):
        shown = [entry for entry in sorted(entries) if not wanted or entry.principal in wanted]
        if shown:
            type_name, name, how = pattern.resource_type.name, pattern.name, pattern.pattern_type.name
            words = f"resourceType={type_name}, name={name}, patternType={how}"
            print(f"Current ACLs for resource `ResourcePattern({words})`:")
            for entry in shown:
                print(f"\t(principal={entry.principal}, host={entry.host}, operation={entry.operation.name}, "
                      f"permissionType={entry.permission_type.name})")  # fmt: skip


def _filter(kind: type[F], pattern: ResourcePattern | None) -> F:
    """Every entry of a pattern, or of all patterns."""
    return kind(
        resource_type_filter=ResourceType.ANY if pattern is None else pattern.resource_type,
        resource_name_filter=None if pattern is None else pattern.name,
        pattern_type_filter=PatternType.ANY if pattern is None else pattern.pattern_type,
        principal_filter=None,
        host_filter=None,
        operation=AclOperation.ANY,
        permission_type=AclPermissionType.ANY,
    )
