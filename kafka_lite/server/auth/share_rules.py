"""The rules of requests about the offsets of share groups.

Kafka 4.1: core/.../server/KafkaApis.scala (handleDescribeShareGroupOffsetsRequest, handleAlterShareGroupOffsetsRequest,
handleDeleteShareGroupOffsetsRequest) · book 2.3.5
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.error_responses import error_response, merge_responses
from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as messages
from kafka_lite.security.authorizer.acl_binding import AclOperation
from kafka_lite.security.authorizer.resource_pattern import ResourceType
from kafka_lite.server.apis.api_handler import Handler, Respond
from kafka_lite.server.auth.auth_helper import AuthHelper
from kafka_lite.server.auth.refusals import changed, refused
from kafka_lite.server.auth.rules import Rule

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP


def describe_share_group_offsets(
    auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler
) -> None:
    """Describe each group, and its topics. Of all topics, those that may not be described are left out."""
    operation, refusal = AclOperation.DESCRIBE, Errors.GROUP_AUTHORIZATION_FAILED.code
    no_groups = auth.denied(request, operation, GROUP, [group.group_id for group in body.groups])
    names = [topic.topic_name for group in body.groups for topic in group.topics or ()]
    no_topics = auth.denied(request, operation, TOPIC, names)
    rest = copy.copy(body)
    rest.groups = [_without(group, no_topics) for group in body.groups if group.group_id not in no_groups]

    def complete(response: Any) -> None:
        described = iter(response.groups)
        groups = []
        for asked in body.groups:
            if asked.group_id in no_groups:
                group = messages.DescribeShareGroupOffsetsResponseGroup(group_id=asked.group_id, error_code=refusal)
            else:
                group = next(described)
                _hide_topics(auth, request, asked, group, no_topics)
            groups.append(group)
        response.groups = groups

    handler(request, rest, changed(respond, complete))


def _without(group: Any, no_topics: Collection[str]) -> Any:
    if group.topics is None:
        return group
    rest = copy.copy(group)
    rest.topics = [topic for topic in group.topics if topic.topic_name not in no_topics]
    return rest


def _hide_topics(auth: AuthHelper, request: Request, asked: Any, group: Any, no_topics: Collection[str]) -> None:
    if asked.topics is None:
        found = [topic.topic_name for topic in group.topics]
        hidden = auth.denied(request, AclOperation.DESCRIBE, TOPIC, found, log_if_denied=False)
        group.topics = [topic for topic in group.topics if topic.topic_name not in hidden]
    elif not group.error_code:
        group.topics += _refused_topics(topic for topic in asked.topics if topic.topic_name in no_topics)


def _refused_topics(topics: Iterable[Any]) -> list[Any]:
    error = Errors.TOPIC_AUTHORIZATION_FAILED
    return [
        messages.DescribeShareGroupOffsetsResponseTopic(
            topic_name=topic.topic_name,
            partitions=[
                messages.DescribeShareGroupOffsetsResponsePartition(
                    partition_index=number, start_offset=-1, error_code=error.code, error_message=error.message
                )
                for number in topic.partitions
            ],
        )
        for topic in topics
    ]


def on_share_group(operation: AclOperation) -> Rule:
    """The operation on the group, and READ on the topics. An error of the coordinator is about the whole group."""

    def rule(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        if not auth.authorize(request, operation, GROUP, body.group_id):
            respond(refused(request, body, Errors.GROUP_AUTHORIZATION_FAILED))
            return
        denied = auth.denied(request, AclOperation.READ, TOPIC, [topic.topic_name for topic in body.topics])
        if not denied:
            handler(request, body, respond)
            return
        version, error = request.header.api_version, Errors.TOPIC_AUTHORIZATION_FAILED
        failed = error_response(body, version, error, lambda name, _partition: name in denied, error.message).response
        rest = copy.copy(body)
        rest.topics = [topic for topic in body.topics if topic.topic_name not in denied]

        def complete(response: Any) -> None:
            if failed is not None and not response.error_code:
                merge_responses(failed, response, version)

        handler(request, rest, changed(respond, complete))

    return rule
