"""Rules of the requests of producers and consumers that are like no others.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleProducerRequest, handleTopicMetadataRequest,
handleOffsetFetchRequest, handleGroupCoordinatorRequest); since 0.11 those of transactions · book 2.3.5
"""

from __future__ import annotations

import copy
from typing import Any

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_names import is_internal
from kafka_lite.network.request import Request
from kafka_lite.protocol.error_responses import error_response, merge_responses
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponseTopic
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchResponseGroup
from kafka_lite.protocol.messages.api_10_find_coordinator import Coordinator, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdResponse
from kafka_lite.protocol.messages.api_75_describe_topic_partitions import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from kafka_lite.record.default_record_batch import CODEC_POSITION, TRANSACTIONAL_FLAG_MASK
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.record_batch import MAGIC_POSITION
from kafka_lite.security.authorizer.acl_binding import AclOperation
from kafka_lite.security.authorizer.resource_pattern import ResourceType
from kafka_lite.server.apis.api_handler import Handler, Respond
from kafka_lite.server.apis.group_apis import FIRST_SYNC_VERSION_WITH_PROTOCOL, says_protocol
from kafka_lite.server.apis.metadata_apis import (
    FIRST_FIND_COORDINATOR_VERSION_WITH_SHARES,
    FIRST_METADATA_VERSION_WITH_TOPIC_IDS,
    SHARE_KEY_TYPE,
)
from kafka_lite.server.apis.topic_pages import names_of_page
from kafka_lite.server.auth.auth_helper import AuthHelper
from kafka_lite.server.auth.refusals import changed, handle_rest, refused, with_refused
from kafka_lite.server.auth.rules import UNAUTHORIZED, KnownTopics, on_cluster, on_named, topic_names

READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
TOPIC, GROUP, TRANSACTIONAL_ID = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
KEY_RESOURCES = {0: GROUP, 1: TRANSACTIONAL_ID}
"""Key type of FindCoordinator → the resources that its keys name."""
COORDINATORS_IN_BATCHES = 4
GROUPS_IN_BATCHES = 8
BROKERS_ONLY = 4


def produce(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Write the topics, and the transactional id of a transaction's records."""
    if _has_transactional_records(body) and not (
        body.transactional_id is not None and auth.authorize(request, WRITE, TRANSACTIONAL_ID, body.transactional_id)
    ):
        _refuse_produce(auth, request, body, respond, Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        return
    denied = auth.denied(request, WRITE, TOPIC, [topic.name for topic in body.topic_data])
    if denied and body.acks == 0:  # the client hears of the error by the end of its connection

        def close(_response: object) -> None:
            auth.close_connection(request)

        handle_rest(request, body, close, handler, Errors.TOPIC_AUTHORIZATION_FAILED, denied)
        return
    handle_rest(request, body, respond, handler, Errors.TOPIC_AUTHORIZATION_FAILED, denied)


def _refuse_produce(auth: AuthHelper, request: Request, body: Any, respond: Respond, error: Errors) -> None:
    if body.acks == 0:
        auth.close_connection(request)
    else:
        respond(refused(request, body, error))


def _has_transactional_records(body: Any) -> bool:
    partitions = (partition for topic in body.topic_data for partition in topic.partition_data)
    return any(_is_transactional(partition.records) for partition in partitions)


def _is_transactional(records: Buffer | None) -> bool:
    if records is None or len(records) <= CODEC_POSITION:
        return False
    return records[MAGIC_POSITION] == MAGIC_V2 and bool(records[CODEC_POSITION] & TRANSACTIONAL_FLAG_MASK)


class MetadataRule:
    """Describe topics; create those that are missing. A list of all topics leaves out those that are not described."""

    def __init__(self, auto_create_topics: bool, topics: KnownTopics) -> None:
        self._auto_create_topics = auto_create_topics
        self._topics = topics

    def __call__(self, auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        """Refuse, or leave out, topics; then say what the user may do."""
        respond = changed(respond, lambda response: self._set_operations(auth, request, body, response))
        if body.topics is None or (not body.topics and request.header.api_version == 0):
            handler(request, body, changed(respond, lambda response: self._leave_out(auth, request, response)))
            return
        ids_allowed = request.header.api_version >= FIRST_METADATA_VERSION_WITH_TOPIC_IDS
        if ids_allowed and any(topic.topic_id.int for topic in body.topics):
            self._ask_by_id(auth, request, body, respond, handler)
            return
        names = [name for name in topic_names(body) if name]
        denied = auth.denied(request, DESCRIBE, TOPIC, names)
        denied |= self._may_not_create(auth, request, body, [name for name in names if name not in denied])
        rest = copy.copy(body)
        rest.topics = [topic for topic in body.topics if topic.name not in denied]
        error = Errors.TOPIC_AUTHORIZATION_FAILED.code
        refusals = [
            MetadataResponseTopic(error_code=error, name=name, is_internal=is_internal(name))
            for name in dict.fromkeys(names)
            if name in denied
        ]
        handler(request, rest, changed(respond, lambda response: response.topics.extend(refusals)))

    def _ask_by_id(self, auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        """A refusal has no name. Ids are no secret, as in Kafka: it tells that there is a topic with this one."""
        ids = dict.fromkeys(topic.topic_id for topic in body.topics if topic.topic_id.int)
        names = {topic_id: name for topic_id in ids if (name := self._topics.topic_name(topic_id)) is not None}
        denied = auth.denied(request, DESCRIBE, TOPIC, list(names.values()))
        hidden = [topic_id for topic_id, name in names.items() if name in denied]
        error = Errors.TOPIC_AUTHORIZATION_FAILED.code
        refusals = [MetadataResponseTopic(error_code=error, name=None, topic_id=topic_id) for topic_id in hidden]
        rest = copy.copy(body)
        rest.topics = [topic for topic in body.topics if topic.topic_id in ids and topic.topic_id not in hidden]
        handler(request, rest, changed(respond, lambda response: response.topics.extend(refusals)))

    def _may_not_create(self, auth: AuthHelper, request: Request, body: Any, names: list[str]) -> set[str]:
        if not (self._auto_create_topics and body.allow_auto_topic_creation):
            return set()
        missing = [name for name in names if not self._topics.contains(name)]
        if not missing or auth.authorize_cluster(request, AclOperation.CREATE, log_if_denied=False):
            return set()
        return auth.denied(request, AclOperation.CREATE, TOPIC, missing)

    @staticmethod
    def _leave_out(auth: AuthHelper, request: Request, response: Any) -> None:
        names = [topic.name for topic in response.topics]
        denied = auth.denied(request, DESCRIBE, TOPIC, names, log_if_denied=False)
        response.topics = [topic for topic in response.topics if topic.name not in denied]

    @staticmethod
    def _set_operations(auth: AuthHelper, request: Request, body: Any, response: Any) -> None:
        if body.include_cluster_authorized_operations:
            response.cluster_authorized_operations = auth.cluster_authorized_operations(request)
        if body.include_topic_authorized_operations:
            for topic in response.topics:
                if topic.name and topic.error_code != Errors.TOPIC_AUTHORIZATION_FAILED.code:
                    topic.topic_authorized_operations = auth.authorized_operations(request, TOPIC, topic.name)


class TopicPagesRule:
    """Describe topics; of all topics those that may be described. What is left out takes no room on the page."""

    def __init__(self, topics: KnownTopics) -> None:
        self._topics = topics

    def __call__(self, auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        """Ask for the topics that the user may describe; then add the refusals."""
        respond = changed(respond, lambda response: self._set_operations(auth, request, response))
        try:
            names = names_of_page(body, self._topics.get_all_topics())
        except ApiError:
            handler(request, body, respond)  # which refuses the cursor
            return
        denied = auth.denied(request, DESCRIBE, TOPIC, names, log_if_denied=bool(body.topics))
        refusals = [_refused_topic(name) for name in names if name in denied] if body.topics else []
        allowed = [name for name in names if name not in denied]
        if not allowed:
            respond(DescribeTopicPartitionsResponse(topics=refusals))
            return
        rest = copy.copy(body)
        rest.topics = [TopicRequest(name=name) for name in allowed]
        if body.cursor is not None and body.cursor.topic_name not in allowed:
            rest.cursor = None
        handler(request, rest, changed(respond, lambda response: response.topics.extend(refusals)))

    @staticmethod
    def _set_operations(auth: AuthHelper, request: Request, response: Any) -> None:
        for topic in response.topics:
            if topic.error_code not in _WITHOUT_OPERATIONS:
                topic.topic_authorized_operations = auth.authorized_operations(request, TOPIC, topic.name)


_WITHOUT_OPERATIONS = (Errors.TOPIC_AUTHORIZATION_FAILED.code, Errors.INVALID_TOPIC_EXCEPTION.code)


def _refused_topic(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(error_code=Errors.TOPIC_AUTHORIZATION_FAILED.code, name=name)


def offset_for_leader_epoch(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Brokers may ask for any topic, clients for those that they describe."""
    denied: set[str] = set()
    if not auth.authorize_cluster(request, AclOperation.CLUSTER_ACTION, log_if_denied=False):
        denied = auth.denied(request, DESCRIBE, TOPIC, [topic.topic for topic in body.topics])
    handle_rest(request, body, respond, handler, Errors.TOPIC_AUTHORIZATION_FAILED, denied)


def find_coordinator(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Describe the groups, or the transactional ids; only brokers look for the coordinators of share partitions."""
    if body.key_type == SHARE_KEY_TYPE and request.header.api_version >= FIRST_FIND_COORDINATOR_VERSION_WITH_SHARES:
        _of_brokers(auth, request, body, respond, handler)
        return
    in_batches = request.header.api_version >= COORDINATORS_IN_BATCHES
    resource_type = KEY_RESOURCES.get(body.key_type)
    if resource_type is None:
        handler(request, body, respond)
        return
    error = UNAUTHORIZED[resource_type]
    keys = body.coordinator_keys if in_batches else [body.key]
    denied = auth.denied(request, DESCRIBE, resource_type, keys)
    refusals = [_no_coordinator(key, error) for key in keys if key in denied]
    if not refusals:
        handler(request, body, respond)
    elif not in_batches:
        (only,) = refusals
        respond(FindCoordinatorResponse(error_code=error.code, error_message=only.error_message, node_id=-1, port=-1))
    else:
        rest = copy.copy(body)
        rest.coordinator_keys = [key for key in keys if key not in denied]
        handler(request, rest, changed(respond, lambda response: response.coordinators.extend(refusals)))


def _no_coordinator(key: str, error: Errors) -> Coordinator:
    return Coordinator(key=key, node_id=-1, host="", port=-1, error_code=error.code, error_message=error.message)


def sync_group(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Read the group. A member that leaves out the protocol hears of that first, as in Kafka."""
    if request.header.api_version >= FIRST_SYNC_VERSION_WITH_PROTOCOL and not says_protocol(body):
        handler(request, body, respond)
    else:
        on_named(READ, GROUP, "group_id")(auth, request, body, respond, handler)


def offset_fetch(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Describe the group, and the topics."""
    if request.header.api_version >= GROUPS_IN_BATCHES:
        _offset_fetch_of_groups(auth, request, body, respond, handler)
        return
    if not auth.authorize(request, DESCRIBE, GROUP, body.group_id):
        respond(refused(request, body, Errors.GROUP_AUTHORIZATION_FAILED))
    elif body.topics is None:
        handler(request, body, changed(respond, lambda response: _leave_out_topics(auth, request, response)))
    else:
        denied = auth.denied(request, DESCRIBE, TOPIC, topic_names(body))
        handle_rest(request, body, respond, handler, Errors.TOPIC_AUTHORIZATION_FAILED, denied)


def subscribed_topics(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Describe the topics that a member of a consumer group subscribes to by name, or the heartbeat is refused."""
    if auth.denied(request, AclOperation.DESCRIBE, ResourceType.TOPIC, body.subscribed_topic_names or ()):
        respond(refused(request, body, Errors.TOPIC_AUTHORIZATION_FAILED))
    else:
        handler(request, body, respond)


def offset_delete(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Delete the group, and read the topics. The coordinator is always asked: its error is about the whole group."""
    if not auth.authorize(request, AclOperation.DELETE, GROUP, body.group_id):
        respond(refused(request, body, Errors.GROUP_AUTHORIZATION_FAILED))
        return
    denied = auth.denied(request, READ, TOPIC, topic_names(body))
    rest = copy.copy(body)
    rest.topics = [topic for topic in body.topics if topic.name not in denied]

    def complete(response: Any) -> None:
        if denied and not response.error_code:
            merge_responses(_denied(request, body, denied), response, request.header.api_version)

    handler(request, rest, changed(respond, complete))


def _leave_out_topics(auth: AuthHelper, request: Request, found: Any) -> None:
    denied = auth.denied(request, DESCRIBE, TOPIC, topic_names(found), log_if_denied=False)
    found.topics = [topic for topic in found.topics if topic.name not in denied]


def _offset_fetch_of_groups(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    error = Errors.GROUP_AUTHORIZATION_FAILED.code
    no_groups = auth.denied(request, DESCRIBE, GROUP, [group.group_id for group in body.groups])
    refusals = [OffsetFetchResponseGroup(group_id=name, error_code=error) for name in sorted(no_groups)]
    groups = [group for group in body.groups if group.group_id not in no_groups]
    named = {topic.name for group in groups for topic in group.topics or ()}
    denied = auth.denied(request, DESCRIBE, TOPIC, named)
    version = request.header.api_version
    allowed, failed = copy.copy(body), None
    allowed.groups = groups
    if denied:
        topic_error = Errors.TOPIC_AUTHORIZATION_FAILED
        partial = error_response(allowed, version, topic_error, lambda name, _: name in denied, topic_error.message)
        failed = partial.response
        allowed.groups = [_without_topics(group, denied) for group in groups]

    def complete(response: Any) -> None:
        everything = {group.group_id for group in groups if group.topics is None}
        for group in response.groups:
            if group.group_id in everything:
                _leave_out_topics(auth, request, group)
        if failed is not None:
            merge_responses(failed, response, version)
        response.groups.extend(refusals)

    handler(request, allowed, changed(respond, complete))


def _without_topics(group: Any, denied: set[str]) -> Any:
    rest = copy.copy(group)
    if group.topics is not None:
        rest.topics = [topic for topic in group.topics if topic.name not in denied]
    return rest


def init_producer_id(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Write the transactional id; without one, write any topic, or have the older right of idempotent writes."""
    if body.transactional_id is not None:
        allowed = auth.authorize(request, WRITE, TRANSACTIONAL_ID, body.transactional_id)
        error = Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    else:
        allowed = auth.authorize_cluster(
            request, AclOperation.IDEMPOTENT_WRITE, log_if_denied=False
        ) or auth.authorize_by_resource_type(request, WRITE, TOPIC)
        error = Errors.CLUSTER_AUTHORIZATION_FAILED
    if allowed:
        handler(request, body, respond)
    else:
        respond(InitProducerIdResponse(error_code=error.code, producer_id=-1, producer_epoch=-1))


def add_partitions_to_txn(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Write the transactional id and all topics: without one of these, nothing is added. Brokers verify with v4."""
    rule = _of_brokers if request.header.api_version >= BROKERS_ONLY else _add_partitions
    rule(auth, request, body, respond, handler)


def _add_all_or_none(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    names = [topic.name for topic in body.v3_and_below_topics]
    denied = auth.denied(request, WRITE, TOPIC, [name for name in names if not is_internal(name)])
    denied |= {name for name in names if is_internal(name)}
    if not denied:
        handler(request, body, respond)
        return
    failed = _denied(request, body, denied)
    others = copy.copy(body)
    others.v3_and_below_topics = [topic for topic in body.v3_and_below_topics if topic.name not in denied]
    if others.v3_and_below_topics:
        respond_with_denied = with_refused(failed, request.header.api_version, respond)
        respond_with_denied(refused(request, others, Errors.OPERATION_NOT_ATTEMPTED))
    else:
        respond(failed)


_of_brokers = on_cluster(AclOperation.CLUSTER_ACTION)
_add_partitions = on_named(WRITE, TRANSACTIONAL_ID, "v3_and_below_transactional_id", _add_all_or_none)


def _denied(request: Request, body: Any, denied: set[str]) -> Any:
    error = Errors.TOPIC_AUTHORIZATION_FAILED
    version = request.header.api_version
    return error_response(body, version, error, lambda name, _: name in denied, error.message).response
