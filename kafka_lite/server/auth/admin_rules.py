"""Rules of the requests of administrators that are like no others.

Kafka 0.11: core/.../server/KafkaApis.scala (handleCreateTopicsRequest, handleDescribeConfigsRequest,
handleListGroupsRequest, handleDescribeGroupRequest, handleListTransactionsRequest and their neighbours) · book 7.3.2
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages.api_15_describe_groups import DescribedGroup
from kafka_lite.protocol.messages.api_20_delete_topics import DeletableTopicResult, DeleteTopicsResponse
from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsResult
from kafka_lite.protocol.messages.api_33_alter_configs import AlterConfigsResourceResponse
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterConfigsResourceResponse as IncrementallyAltered,
)
from kafka_lite.protocol.messages.api_69_consumer_group_describe import DescribedGroup as ConsumerGroup
from kafka_lite.protocol.messages.api_77_share_group_describe import DescribedGroup as ShareGroup
from kafka_lite.security.authorizer.acl_binding import AclOperation
from kafka_lite.security.authorizer.resource_pattern import CLUSTER_NAME, ResourceType
from kafka_lite.server.apis.api_handler import Handler, Respond
from kafka_lite.server.auth.auth_helper import AuthHelper
from kafka_lite.server.auth.refusals import changed, handle_rest
from kafka_lite.server.auth.rules import UNAUTHORIZED, KnownTopics, Rule, topic_names

DESCRIBE, TOPIC, GROUP = AclOperation.DESCRIBE, ResourceType.TOPIC, ResourceType.GROUP
CONFIG_TOPIC, CONFIG_BROKER, CONFIG_BROKER_LOGGER, CONFIG_CLIENT_METRICS, CONFIG_GROUP = 2, 4, 8, 16, 32
"""Types of resources with configurations, as numbers on the wire."""
CONFIG_RESOURCES = {
    CONFIG_TOPIC: TOPIC,
    CONFIG_BROKER: ResourceType.CLUSTER,
    CONFIG_BROKER_LOGGER: ResourceType.CLUSTER,
    CONFIG_GROUP: GROUP,
    CONFIG_CLIENT_METRICS: ResourceType.CLUSTER,
}
NO_OPERATIONS = -(2**31)


def create_topics(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """CREATE on the cluster or each topic. Without DESCRIBE_CONFIGS the new topics' configurations are left out."""
    names = topic_names(body)
    denied: set[str] = set()
    if not auth.authorize_cluster(request, AclOperation.CREATE, log_if_denied=False):
        denied = auth.denied(request, AclOperation.CREATE, TOPIC, names)

    def hide_configs(response: Any) -> None:
        answered = [topic for topic in response.topics if not topic.error_code or topic.name in denied]
        hidden = auth.denied(
            request, AclOperation.DESCRIBE_CONFIGS, TOPIC, [topic.name for topic in answered], log_if_denied=False
        )
        for topic in answered:
            if topic.name in hidden:
                topic.topic_config_error_code = Errors.TOPIC_AUTHORIZATION_FAILED.code
                topic.num_partitions = topic.replication_factor = -1
                topic.configs = []

    respond = changed(respond, hide_configs)
    handle_rest(request, body, respond, handler, Errors.TOPIC_AUTHORIZATION_FAILED, denied)


class DeleteTopicsRule:
    """DELETE on each topic. Who may not describe a topic does not learn its name from its id."""

    def __init__(self, topics: KnownTopics) -> None:
        self._topics = topics

    def __call__(self, auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        """Refuse topics; those that are given by an unknown id, or by name and id at once, are the handler's."""
        by_id = {topic.topic_id: self._topics.topic_name(topic.topic_id) for topic in body.topics if topic.name is None}
        known = {topic_id: name for topic_id, name in by_id.items() if name is not None}
        named = [*body.topic_names, *(topic.name for topic in body.topics if topic.name is not None)]
        denied = auth.denied(request, AclOperation.DELETE, TOPIC, [*named, *known.values()])
        hidden = auth.denied(request, DESCRIBE, TOPIC, list(known.values()), log_if_denied=False)
        error = Errors.TOPIC_AUTHORIZATION_FAILED
        refusals = [
            DeletableTopicResult(
                name=None if name in hidden else name,
                topic_id=topic_id,
                error_code=error.code,
                error_message=error.message,
            )
            for topic_id, name in known.items()
            if name in denied | hidden
        ]
        refused_ids = {refusal.topic_id for refusal in refusals}
        rest = copy.copy(body)
        rest.topics = [topic for topic in body.topics if topic.name is not None or topic.topic_id not in refused_ids]
        respond = changed(respond, lambda response: response.responses.extend(refusals))
        if refusals and not rest.topics:
            respond(DeleteTopicsResponse())
        else:
            handle_rest(request, rest, respond, handler, error, denied.intersection(named))


def describe_groups(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Describe each group."""
    denied = auth.denied(request, DESCRIBE, GROUP, body.groups)
    error = Errors.GROUP_AUTHORIZATION_FAILED.code
    refusals = [DescribedGroup(error_code=error, group_id=name) for name in body.groups if name in denied]
    for refusal in refusals:
        refusal.authorized_operations = NO_OPERATIONS
    rest = copy.copy(body)
    rest.groups = [name for name in body.groups if name not in denied]

    def complete(response: Any) -> None:
        if body.include_authorized_operations:
            for group in response.groups:
                if not group.error_code:
                    group.authorized_operations = auth.authorized_operations(request, GROUP, group.group_id)
        response.groups.extend(refusals)

    handler(request, rest, changed(respond, complete))


class DescribeRule:
    """Describe each group, and the topics of its members: a group that has others is refused."""

    def __init__(self, described_group: Callable[..., Any]) -> None:
        """``described_group``: the struct of a group in the response."""
        self._described_group = described_group

    def __call__(self, auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        """Refuse groups, or say what the user may do."""
        denied = auth.denied(request, DESCRIBE, GROUP, body.group_ids)
        error = Errors.GROUP_AUTHORIZATION_FAILED
        refusals = [
            self._described_group(error_code=error.code, error_message=error.message, group_id=name)
            for name in body.group_ids
            if name in denied
        ]
        rest = copy.copy(body)
        rest.group_ids = [name for name in body.group_ids if name not in denied]

        def complete(response: Any) -> None:
            for group in response.groups:
                if not group.error_code:
                    _hide_topics(auth, request, group)
                if body.include_authorized_operations and not group.error_code:
                    group.authorized_operations = auth.authorized_operations(request, GROUP, group.group_id)
            response.groups.extend(refusals)

        handler(request, rest, changed(respond, complete))


consumer_group_describe, share_group_describe = DescribeRule(ConsumerGroup), DescribeRule(ShareGroup)


def _hide_topics(auth: AuthHelper, request: Request, group: Any) -> None:
    names = {name for member in group.members for name in member.subscribed_topic_names}
    for member in group.members:
        targets = [member.target_assignment] if hasattr(member, "target_assignment") else []
        for assignment in (member.assignment, *targets):
            names.update(partitions.topic_name for partitions in assignment.topic_partitions)
    if auth.denied(request, DESCRIBE, TOPIC, names):
        group.error_code = Errors.TOPIC_AUTHORIZATION_FAILED.code
        group.error_message = "The group has described topic(s) that the client is not authorized to describe."
        group.members = []


def list_groups(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Describe the cluster; without that, the groups that the user may describe."""
    if auth.authorize_cluster(request, DESCRIBE, log_if_denied=False):
        handler(request, body, respond)
        return

    def leave_out(response: Any) -> None:
        denied = auth.denied(request, DESCRIBE, GROUP, [each.group_id for each in response.groups], log_if_denied=False)
        response.groups = [group for group in response.groups if group.group_id not in denied]

    handler(request, body, changed(respond, leave_out))


def on_configs(operation: AclOperation, responses: str, result: Callable[..., Any]) -> Rule:
    """The operation on each topic or group; on the cluster for brokers. ``responses``: the field of the results."""

    def rule(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        allowed, refusals = [], []
        for resource in body.resources:
            kind = CONFIG_RESOURCES.get(resource.resource_type)
            name = CLUSTER_NAME if kind is ResourceType.CLUSTER else resource.resource_name
            if kind is None or auth.authorize(request, operation, kind, name):
                allowed.append(resource)
                continue
            error = UNAUTHORIZED[kind]
            refusals.append(
                result(
                    error_code=error.code,
                    error_message=error.message,
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                )
            )
        rest = copy.copy(body)
        rest.resources = allowed
        handler(request, rest, changed(respond, lambda response: getattr(response, responses).extend(refusals)))

    return rule


describe_configs = on_configs(AclOperation.DESCRIBE_CONFIGS, "results", DescribeConfigsResult)
alter_configs = on_configs(AclOperation.ALTER_CONFIGS, "responses", AlterConfigsResourceResponse)
incremental_alter_configs = on_configs(AclOperation.ALTER_CONFIGS, "responses", IncrementallyAltered)


def describe_cluster(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Everyone may; the operations are the user's."""

    def set_operations(response: Any) -> None:
        if body.include_cluster_authorized_operations:
            response.cluster_authorized_operations = auth.cluster_authorized_operations(request)

    handler(request, body, changed(respond, set_operations))


def describe_transactions(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Describe each transactional id; topics that the user may not describe are left out."""
    denied = auth.denied(request, DESCRIBE, ResourceType.TRANSACTIONAL_ID, body.transactional_ids)

    def leave_out(response: Any) -> None:
        for state in response.transaction_states:
            names = [topic.topic for topic in state.topics]
            hidden = auth.denied(request, DESCRIBE, TOPIC, names, log_if_denied=False)
            state.topics = [topic for topic in state.topics if topic.topic not in hidden]

    respond = changed(respond, leave_out)
    handle_rest(request, body, respond, handler, Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, denied)


def list_transactions(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """The transactional ids that the user may describe."""

    def leave_out(response: Any) -> None:
        ids = [state.transactional_id for state in response.transaction_states]
        denied = auth.denied(request, DESCRIBE, ResourceType.TRANSACTIONAL_ID, ids, log_if_denied=False)
        response.transaction_states = [
            state for state in response.transaction_states if state.transactional_id not in denied
        ]

    handler(request, body, changed(respond, leave_out))
