"""Requests of administrators: CreateTopics, DeleteTopics, CreatePartitions, DescribeConfigs, AlterConfigs.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleCreateTopicsRequest, handleDeleteTopicsRequest) · book 7.1.3
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_19_create_topics as create_topics
from kafka_lite.protocol.messages import api_20_delete_topics as delete_topics
from kafka_lite.protocol.messages import api_32_describe_configs as describe_configs
from kafka_lite.protocol.messages import api_33_alter_configs as alter_configs
from kafka_lite.protocol.messages import api_37_create_partitions as create_partitions
from kafka_lite.protocol.messages import api_44_incremental_alter_configs as incremental_alter_configs
from kafka_lite.protocol.messages import api_74_list_config_resources as list_config_resources
from kafka_lite.server.admin.admin_manager import AdminManager
from kafka_lite.server.admin.config_admin_manager import CLIENT_METRICS_RESOURCE, LISTED_RESOURCES, ConfigAdminManager
from kafka_lite.server.admin.config_helper import ConfigSource
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.quotas.request_handler_helper import RequestHandlerHelper

STRICT_CREATE_TOPICS_VERSION, STRICT_DELETE_TOPICS_VERSION, STRICT_CREATE_PARTITIONS_VERSION = 6, 5, 3
"""The first versions whose clients know THROTTLING_QUOTA_EXCEEDED (KIP-599)."""
TWICE = "Found multiple entries for this topic."


class AdminApis:
    """Handlers that translate between the wire and the admin manager. Only the controller changes topics."""

    def __init__(
        self,
        config: KafkaConfig,
        admin_manager: AdminManager,
        config_admin_manager: ConfigAdminManager,
        is_controller: Callable[[], bool],
        request_helper: RequestHandlerHelper,
        topic_name: Callable[[UUID], str | None],
    ) -> None:
        """``topic_name``: the name of the topic with an id, if the metadata cache knows it."""
        self._config = config
        self._admin = admin_manager
        self._configs = config_admin_manager
        self._is_controller = is_controller
        self._request_helper = request_helper
        self._topic_name = topic_name

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_create_topics(self, request: Request, body: create_topics.CreateTopicsRequest, respond: Respond) -> None:
        """Create topics, and respond once they have leaders. A topic that occurs twice is not created."""
        counts = Counter(topic.name for topic in body.topics)
        reasons = self._refuse(counts)
        refused = [
            create_topics.CreatableTopicResult(name=name, error_code=error.code, error_message=message)
            for name, (error, message) in reasons.items()
        ]
        wanted = [topic for topic in body.topics if topic.name not in reasons]
        quota = self._request_helper.new_mutation_quota(request, STRICT_CREATE_TOPICS_VERSION)

        def send(results: list[create_topics.CreatableTopicResult]) -> None:
            self._request_helper.throttle_mutation(request, quota)
            respond(create_topics.CreateTopicsResponse(topics=results + refused))

        self._admin.create_topics(body.timeout_ms, wanted, body.validate_only, quota, send)

    def handle_create_partitions(
        self, request: Request, body: create_partitions.CreatePartitionsRequest, respond: Respond
    ) -> None:
        """Add partitions to topics, and respond once the new partitions have leaders."""
        counts = Counter(topic.name for topic in body.topics)
        reasons = self._refuse(counts)
        refused = [
            create_partitions.CreatePartitionsTopicResult(name=name, error_code=error.code, error_message=message)
            for name, (error, message) in reasons.items()
        ]
        wanted = [topic for topic in body.topics if topic.name not in reasons]
        quota = self._request_helper.new_mutation_quota(request, STRICT_CREATE_PARTITIONS_VERSION)

        def send(results: list[create_partitions.CreatePartitionsTopicResult]) -> None:
            self._request_helper.throttle_mutation(request, quota)
            respond(create_partitions.CreatePartitionsResponse(results=results + refused))

        self._admin.create_partitions(body.timeout_ms, wanted, body.validate_only, quota, send)

    def _refuse(self, counts: Counter[str]) -> dict[str, tuple[Errors, str]]:
        """The topics that are rejected at once: all if this broker is not the controller, otherwise duplicates."""
        if not self._is_controller():
            return dict.fromkeys(counts, (Errors.NOT_CONTROLLER, Errors.NOT_CONTROLLER.message))
        return {name: (Errors.INVALID_REQUEST, TWICE) for name, count in counts.items() if count > 1}

    def handle_delete_topics(self, request: Request, body: delete_topics.DeleteTopicsRequest, respond: Respond) -> None:
        """Delete topics, given by name or by id, and respond once they have left the metadata."""
        asked = body.topics + [delete_topics.DeleteTopicState(name=name) for name in body.topic_names]
        error = self._deletion_error(request.header.api_version)
        wanted, refused = list[tuple[str, UUID]](), []
        for topic in {(topic.name, topic.topic_id): topic for topic in asked}.values():
            name = topic.name if topic.name is not None else self._topic_name(topic.topic_id)
            reason = (error, error.message) if error is not None else _unusable(topic, name)
            if name is not None and reason is None:
                wanted.append((name, topic.topic_id))
            elif reason is not None:
                refused.append(
                    delete_topics.DeletableTopicResult(
                        name=topic.name, topic_id=topic.topic_id, error_code=reason[0].code, error_message=reason[1]
                    )
                )
        quota = self._request_helper.new_mutation_quota(request, STRICT_DELETE_TOPICS_VERSION)

        def send(results: list[delete_topics.DeletableTopicResult]) -> None:
            self._request_helper.throttle_mutation(request, quota)
            respond(delete_topics.DeleteTopicsResponse(responses=_as_asked(results, wanted) + refused))

        self._admin.delete_topics(body.timeout_ms, list(dict.fromkeys(name for name, _ in wanted)), quota, send)

    def _deletion_error(self, version: int) -> Errors | None:
        if not self._is_controller():
            return Errors.NOT_CONTROLLER
        if not self._config.delete_topic_enable:
            return Errors.INVALID_REQUEST if version < 3 else Errors.TOPIC_DELETION_DISABLED
        return None

    # ── configurations ────────────────────────────────────────────────────────────────────────────────────────────

    def handle_describe_configs(
        self, request: Request, body: describe_configs.DescribeConfigsRequest, respond: Respond
    ) -> None:
        """Describe the configurations of topics and of this broker."""
        results = self._configs.describe_configs(
            body.resources,
            include_synonyms=body.include_synonyms,
            include_documentation=body.include_documentation,
        )
        if request.header.api_version == 0:
            # Version 0 knows only "default or not"; what server.properties sets counts as a topic's default.
            for result in results:
                own = ConfigSource.TOPIC_CONFIG if result.resource_type == 2 else ConfigSource.STATIC_BROKER_CONFIG
                for entry in result.configs:
                    entry.is_default = entry.config_source > own
        respond(describe_configs.DescribeConfigsResponse(results=results))

    def handle_list_config_resources(
        self, request: Request, body: list_config_resources.ListConfigResourcesRequest, respond: Respond
    ) -> None:
        """List the resources that can have configurations, by type (KIP-1142)."""
        if request.header.api_version == 0:
            wanted = {CLIENT_METRICS_RESOURCE}
        else:
            wanted = set(body.resource_types) or set(LISTED_RESOURCES)
        if not wanted <= set(LISTED_RESOURCES):
            respond(list_config_resources.ListConfigResourcesResponse(error_code=Errors.UNSUPPORTED_VERSION.code))
            return
        resources = [
            list_config_resources.ConfigResource(resource_name=name, resource_type=kind)
            for kind in LISTED_RESOURCES
            if kind in wanted
            for name in self._configs.resources(kind)
        ]
        respond(list_config_resources.ListConfigResourcesResponse(config_resources=resources))

    def handle_alter_configs(
        self, _request: Request, body: alter_configs.AlterConfigsRequest, respond: Respond
    ) -> None:
        """Replace the overrides of topics and brokers."""
        results = self._configs.alter_configs(body.resources, body.validate_only)
        respond(alter_configs.AlterConfigsResponse(responses=results))

    def handle_incremental_alter_configs(
        self, _request: Request, body: incremental_alter_configs.IncrementalAlterConfigsRequest, respond: Respond
    ) -> None:
        """Change single overrides of topics and brokers."""
        results = self._configs.incremental_alter_configs(body.resources, body.validate_only)
        respond(incremental_alter_configs.IncrementalAlterConfigsResponse(responses=results))


def _unusable(topic: delete_topics.DeleteTopicState, name: str | None) -> tuple[Errors, str] | None:
    """Why a topic identified in this way cannot be deleted; None if it can. ``name``: its own, or that of its id."""
    if topic.name is not None and topic.topic_id.int:
        return Errors.INVALID_REQUEST, f"Topic {topic.name} is also identified by its id; use only one of the two."
    if topic.name is None and not topic.topic_id.int:
        return Errors.INVALID_REQUEST, "The topic has neither a name nor an id."
    return None if name is not None else (Errors.UNKNOWN_TOPIC_ID, Errors.UNKNOWN_TOPIC_ID.message)


def _as_asked(
    results: Iterable[delete_topics.DeletableTopicResult], wanted: Iterable[tuple[str, UUID]]
) -> list[delete_topics.DeletableTopicResult]:
    """The result of each topic that was asked for, with the id by which it was."""
    by_name = {result.name: result for result in results}
    answers = []
    for name, topic_id in wanted:
        answer = copy.copy(by_name[name])
        answer.topic_id = topic_id
        answers.append(answer)
    return answers
