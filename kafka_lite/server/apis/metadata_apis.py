"""Requests about the cluster: ApiVersions, Metadata, FindCoordinator, DescribeCluster.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleTopicMetadataRequest)
· book 2.3.5, 7.3.2
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_names import (
    GROUP_METADATA_TOPIC_NAME,
    SHARE_GROUP_STATE_TOPIC_NAME,
    TRANSACTION_STATE_TOPIC_NAME,
    is_internal,
    is_valid_topic_name,
)
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.coordinator.share.persister import SharePartitionKey
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import (
    api_03_metadata as metadata,
)
from kafka_lite.protocol.messages import (
    api_10_find_coordinator as coordinators,
)
from kafka_lite.protocol.messages import (
    api_18_api_versions as versions,
)
from kafka_lite.protocol.messages import (
    api_60_describe_cluster as cluster,
)
from kafka_lite.protocol.messages import (
    api_75_describe_topic_partitions as pages,
)
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.apis.api_version_manager import ApiVersionManager
from kafka_lite.server.apis.topic_pages import names_of_page, refused_page, topic_page
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache

logger = logging.getLogger(__name__)

TOPIC_OF_KEY_TYPE = {0: GROUP_METADATA_TOPIC_NAME, 1: TRANSACTION_STATE_TOPIC_NAME, 2: SHARE_GROUP_STATE_TOPIC_NAME}
"""The topic of groups, of transactional ids and of share partitions, by the key type of FindCoordinator."""
SHARE_KEY_TYPE = 2
FIRST_FIND_COORDINATOR_VERSION_WITH_SHARES = 6
NO_AUTHORIZED_OPERATIONS = -(2**31)
"""The value of authorized operations if the client did not request them."""

# Bit n stands for the operation with code n (AclOperation). Without an authorizer everybody may do everything that
# makes sense for the resource.
TOPIC_OPERATIONS = sum(1 << code for code in (3, 4, 5, 6, 7, 8, 10, 11))
"""READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS."""
CLUSTER_OPERATIONS = sum(1 << code for code in (5, 7, 8, 9, 10, 11, 12))
"""CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE."""

FIRST_METADATA_VERSION_WITH_TOPIC_IDS = 12
BROKER_ENDPOINT, CONTROLLER_ENDPOINT = 1, 2
"""The endpoint types of DescribeCluster."""

MAX_CREATED_TOPICS = 100
"""How many topics one Metadata request creates. The others are unknown; clients ask again, and get the next ones."""

AutoCreate = Callable[[str], None]
"""Creates a topic with the broker's defaults; raises ApiError."""
Leader = tuple[int, EndPoint]
"""A broker's id, and where clients reach it."""


class MetadataApis:
    """Handlers that respond from the metadata cache."""

    def __init__(
        self,
        config: KafkaConfig,
        cluster_id: str,
        metadata_cache: MetadataCache,
        local_broker: Callable[[], Broker],
        create_topic: AutoCreate,
        api_versions: ApiVersionManager,
    ) -> None:
        self._config = config
        self._cluster_id = cluster_id
        self._cache = metadata_cache
        self._local_broker = local_broker
        self._create_topic = create_topic
        self._versions = api_versions

    # ── ApiVersions ───────────────────────────────────────────────────────────────────────────────────────────────

    def handle_api_versions(self, request: Request, body: versions.ApiVersionsRequest, respond: Respond) -> None:
        """Return the versions that this broker serves. Remembers the client's software, if it says so."""
        response = self._versions.response(request.header, body)
        information = request.client_information
        if information is not None and request.header.api_version >= 3 and not response.error_code:
            information.software_name = body.client_software_name
            information.software_version = body.client_software_version
        respond(response)

    def unsupported_api_versions(self) -> versions.ApiVersionsResponse:
        """The response to an ApiVersions request of a version that is not served."""
        return self._versions.unsupported()

    # ── Metadata ──────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_metadata(self, request: Request, body: metadata.MetadataRequest, respond: Respond) -> None:
        """Return brokers, topics and leaders of topics that are asked for by name or by id.

        A missing topic is created if broker and client allow it. If any topic is asked for by its id, those that are
        asked for by name are ignored, as in Kafka.
        """
        asked = body.topics or []
        by_id = any(topic.topic_id.int for topic in asked)
        ids_allowed = request.header.api_version >= FIRST_METADATA_VERSION_WITH_TOPIC_IDS
        if not ids_allowed and (by_id or any(topic.name is None for topic in asked)):
            respond(self._metadata_response(request, _topics_without_names(asked), with_operations=False))
            return
        topics = self._topics_by_id(request, asked) if by_id else self._topics_by_name(request, body)
        for topic in topics:
            topic.is_internal = is_internal(topic.name or "")
            topic.topic_authorized_operations = (
                TOPIC_OPERATIONS
                if body.include_topic_authorized_operations and topic.name is not None
                else NO_AUTHORIZED_OPERATIONS
            )
        respond(self._metadata_response(request, topics, body.include_cluster_authorized_operations))

    def _topics_by_id(
        self, request: Request, asked: Iterable[metadata.MetadataRequestTopic]
    ) -> list[metadata.MetadataResponseTopic]:
        ids = dict.fromkeys(topic.topic_id for topic in asked if topic.topic_id.int)
        names = {topic_id: self._cache.topic_name(topic_id) for topic_id in ids}
        found = self._cache.get_topic_metadata((name for name in names.values() if name), request.listener_name)
        error, known = Errors.UNKNOWN_TOPIC_ID.code, {topic.topic_id for topic in found}
        unknown = [
            metadata.MetadataResponseTopic(error_code=error, name=None, topic_id=topic_id)
            for topic_id in ids
            if topic_id not in known
        ]
        return [topic for topic in found if topic.topic_id in ids] + unknown

    def _topics_by_name(self, request: Request, body: metadata.MetadataRequest) -> list[metadata.MetadataResponseTopic]:
        version = request.header.api_version
        # Version 0 had no null: its empty list means all topics. Since version 1 an empty list means none.
        all_topics = body.topics is None or (version == 0 and not body.topics)
        names = None if body.topics is None or all_topics else [topic.name or "" for topic in body.topics]
        # Clients of version 0 are told of dead replicas by an error; later ones see them in the list of replicas.
        topics = self._cache.get_topic_metadata(names, request.listener_name, error_unavailable_endpoints=version == 0)
        if names is not None:
            known = {topic.name for topic in topics}
            may_create = self._config.auto_create_topics_enable and (version < 4 or body.allow_auto_topic_creation)
            missing = [name for name in dict.fromkeys(names) if name not in known]
            topics += [self._missing_topic(name, may_create) for name in missing[:MAX_CREATED_TOPICS]]
            topics += [self._missing_topic(name, may_create=False) for name in missing[MAX_CREATED_TOPICS:]]
        return topics

    def _metadata_response(
        self, request: Request, topics: list[metadata.MetadataResponseTopic], with_operations: bool
    ) -> metadata.MetadataResponse:
        brokers = [
            metadata.MetadataResponseBroker(node_id=broker_id, host=end_point.host, port=end_point.port, rack=rack)
            for broker_id, end_point, rack in self._alive_brokers(request.listener_name)
        ]
        return metadata.MetadataResponse(
            brokers=brokers,
            cluster_id=self._cluster_id,
            controller_id=self._controller_id(),
            topics=topics,
            cluster_authorized_operations=CLUSTER_OPERATIONS if with_operations else NO_AUTHORIZED_OPERATIONS,
        )

    def _missing_topic(self, name: str, may_create: bool) -> metadata.MetadataResponseTopic:
        """The error of a missing topic: invalid name, unknown, or just being created."""
        if not is_valid_topic_name(name):
            error = Errors.INVALID_TOPIC_EXCEPTION
        elif not self._cache.has_alive_brokers():
            error = Errors.LEADER_NOT_AVAILABLE  # the controller has not told this broker of any topic
        elif not may_create and name != GROUP_METADATA_TOPIC_NAME:
            error = Errors.UNKNOWN_TOPIC_OR_PARTITION
        else:
            error = self._error_of_creation(name)
        return metadata.MetadataResponseTopic(error_code=error.code, name=name)

    def _error_of_creation(self, name: str) -> Errors:
        """Create a topic; the error of its metadata for now."""
        try:
            self._create_topic(name)
        except ApiError as failure:
            if failure.error is not Errors.TOPIC_ALREADY_EXISTS:
                return failure.error
        except Exception:
            logger.exception("Error creating topic %s", name)  # an error of ZooKeeper, say; the others are created
            return Errors.UNKNOWN_SERVER_ERROR
        return Errors.LEADER_NOT_AVAILABLE

    def _alive_brokers(self, listener_name: str) -> Iterable[tuple[int, EndPoint, str | None]]:
        """The brokers that the controller has named, or this one until it has named any.

        In Kafka a broker that has just started lists none. Java's clients ignore such a response, but librdkafka 2.16
        takes it for a failure that it never retries: the client waits forever.
        """
        for broker in self._cache.get_alive_brokers() or [self._local_broker()]:
            end_point = broker.get_end_point(listener_name)
            if end_point is not None:
                yield broker.id, end_point, broker.rack

    def _controller_id(self) -> int:
        controller_id = self._cache.controller_id
        return -1 if controller_id is None else controller_id

    # ── FindCoordinator ───────────────────────────────────────────────────────────────────────────────────────────

    def handle_find_coordinator(
        self, request: Request, body: coordinators.FindCoordinatorRequest, respond: Respond
    ) -> None:
        """Return the coordinators of groups, transactional ids or share partitions."""
        version = request.header.api_version
        keys = body.coordinator_keys if version >= 4 else [body.key]
        is_too_early = body.key_type == SHARE_KEY_TYPE and version < FIRST_FIND_COORDINATOR_VERSION_WITH_SHARES
        topic = None if is_too_early else TOPIC_OF_KEY_TYPE.get(body.key_type)
        leaders = self._leaders_of(request.listener_name, topic) if keys and topic is not None else []
        found = [_find_coordinator(body.key_type, topic, leaders, key) for key in keys]
        if version >= 4:
            respond(coordinators.FindCoordinatorResponse(coordinators=found))
            return
        only = found[0]
        respond(
            coordinators.FindCoordinatorResponse(
                error_code=only.error_code,
                error_message=only.error_message or Errors.NONE.name,  # unlike other responses
                node_id=only.node_id,
                host=only.host,
                port=only.port,
            )
        )

    def _leaders_of(self, listener_name: str, topic: str) -> list[Leader | None]:
        """The leaders of a coordinator's topic by partition, None where no client can reach one; once per request.

        Empty if the topic is missing: then it is created.
        """
        topics = self._cache.get_topic_metadata([topic], listener_name)
        if not topics:
            self._missing_topic(topic, may_create=True)
            return []
        leader_ids = {p.partition_index: p.leader_id for p in topics[0].partitions}
        reachable = {broker_id: (broker_id, end) for broker_id, end, _ in self._alive_brokers(listener_name)}
        return [reachable.get(leader_ids.get(index, -1)) for index in range(max(1, len(leader_ids)))]

    # ── DescribeCluster ──────────────────────────────────────────────────────────────────────────────────────────

    def handle_describe_cluster(self, request: Request, body: cluster.DescribeClusterRequest, respond: Respond) -> None:
        """Return cluster id, controller and brokers (KIP-700). No endpoint of this broker is that of a controller."""
        if (error := _wrong_endpoint_type(body.endpoint_type)) is not None:
            respond(error)
            return
        brokers = [
            cluster.DescribeClusterBroker(broker_id=broker_id, host=end_point.host, port=end_point.port, rack=rack)
            for broker_id, end_point, rack in self._alive_brokers(request.listener_name)
        ]
        with_operations = body.include_cluster_authorized_operations
        respond(
            cluster.DescribeClusterResponse(
                cluster_id=self._cluster_id,
                controller_id=self._controller_id(),
                brokers=brokers,
                cluster_authorized_operations=CLUSTER_OPERATIONS if with_operations else NO_AUTHORIZED_OPERATIONS,
            )
        )

    def handle_describe_topic_partitions(
        self, request: Request, body: pages.DescribeTopicPartitionsRequest, respond: Respond
    ) -> None:
        """Return one page of topics and their partitions (KIP-966)."""

        def find(name: str) -> metadata.MetadataResponseTopic | None:
            return next(iter(self._cache.get_topic_metadata([name], request.listener_name)), None)

        try:
            names = names_of_page(body, self._cache.get_all_topics())
        except ApiError as failure:
            respond(refused_page(body, failure))
            return
        limit = max(1, min(self._config.values["max.request.partition.size.limit"], body.response_partition_limit))
        page = topic_page(names, body.cursor, limit, find, skip_missing=not body.topics)
        for topic in page.topics:
            if topic.error_code != Errors.INVALID_TOPIC_EXCEPTION.code:
                topic.topic_authorized_operations = TOPIC_OPERATIONS
        respond(page)


def _wrong_endpoint_type(endpoint_type: int) -> cluster.DescribeClusterResponse | None:
    if endpoint_type == BROKER_ENDPOINT:
        return None
    if endpoint_type == CONTROLLER_ENDPOINT:
        error = Errors.MISMATCHED_ENDPOINT_TYPE
        message = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
    else:
        error, message = Errors.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {endpoint_type}"
    return cluster.DescribeClusterResponse(error_code=error.code, error_message=message)


def _find_coordinator(
    key_type: int, topic: str | None, leaders: Sequence[Leader | None], key: str
) -> coordinators.Coordinator:
    """The coordinator of a key: the leader of the partition of its topic that stores the key."""
    coordinator = coordinators.Coordinator(key=key, node_id=-1, host="", port=-1)
    error, message = Errors.COORDINATOR_NOT_AVAILABLE, f"{topic} is being created"
    if topic is None:
        error, message = Errors.INVALID_REQUEST, f"this broker has no coordinators of key type {key_type}"
    elif key_type == SHARE_KEY_TYPE and (problem := _problem_of_share_key(key)) is not None:
        error, message = Errors.INVALID_REQUEST, problem
    elif leaders:
        partition = TopicPartition(topic, java_abs(java_string_hash(key)) % len(leaders))
        leader = leaders[partition.partition]
        if leader is not None:
            coordinator.node_id, end_point = leader
            coordinator.host, coordinator.port = end_point.host, end_point.port
            return coordinator
        message = f"{partition} has no leader"
    coordinator.error_code, coordinator.error_message = error.code, message
    return coordinator


def _problem_of_share_key(key: str) -> str | None:
    try:
        SharePartitionKey.parse(key)
    except ValueError as failure:
        return str(failure)
    return None


def _topics_without_names(asked: Iterable[metadata.MetadataRequestTopic]) -> list[metadata.MetadataResponseTopic]:
    """The refusal of versions 10 and 11, which have the field of the id but must not use it."""
    error = Errors.INVALID_REQUEST.code
    return [
        metadata.MetadataResponseTopic(error_code=error, name=topic.name or "", topic_id=topic.topic_id)
        for topic in asked
    ]
