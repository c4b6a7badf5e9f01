"""Creates the topics that a worker needs, and checks those that are there.

Kafka 1.0: connect/runtime/.../connect/util/TopicAdmin.java; createTopicsWithRetry: Kafka 3.0,
verifyTopicCleanupPolicyOnlyCompact: Kafka 2.5 · book 8.3.5
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafka_lite.clients.admin_client import ADMIN_CONFIG, AdminClient, controller_of, describe_cluster
from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)

logger = logging.getLogger(__name__)

TIMEOUT_MS = 30_000
MAX_BACKOFF_MS = 1000
CLEANUP_POLICY, COMPACT = "cleanup.policy", "compact"
COMPACTED: Final[Mapping[str, str]] = MappingProxyType({CLEANUP_POLICY: COMPACT})
"""The setting of a topic that keeps the newest record of each key."""
TOPIC_ADMIN_CONFIG = (
    ConfigDef()
    .include(ADMIN_CONFIG)
    .define("default.api.timeout.ms", Type.INT, 60_000, Importance.MEDIUM,
            "How long the creation of a topic is tried again, ms.", Range.at_least(0))
    .define("retry.backoff.ms", Type.LONG, 100, Importance.LOW, "How long to wait before it is tried again, ms.",
            Range.at_least(0))
)  # fmt: skip
"""The keys of a topic admin."""
NO_CONFIGS: Final[Mapping[str, str]] = MappingProxyType({})
BROKERS_DEFAULT = -1
"""Partitions or replicas as many as the brokers give to topics that they create by themselves."""
_WITH_DEFAULTS = 4
"""The version of CreateTopics since which that can be asked for, of Kafka 2.4."""
_UNKNOWN = Errors.UNKNOWN_TOPIC_OR_PARTITION.code
_TOPIC_RESOURCE = 2
_MAY_NOT = frozenset({Errors.CLUSTER_AUTHORIZATION_FAILED, Errors.TOPIC_AUTHORIZATION_FAILED})
_CANNOT = _MAY_NOT | {Errors.UNSUPPORTED_VERSION}
"""The broker is too old, or the worker may not ask: it does what it can do without the answer."""
_PASSES = frozenset({
    Errors.INVALID_REPLICATION_FACTOR, Errors.NOT_CONTROLLER, Errors.REQUEST_TIMED_OUT,
})  # fmt: skip
"""More brokers may be about to start, and the controller may be moving."""


class TopicAdmin:
    """It need not be closed."""

    def __init__(self, configs: Mapping[str, object], time: Time = SYSTEM_TIME) -> None:
        """``configs``: the keys of TOPIC_ADMIN_CONFIG; others are of no concern. Raises ConfigError."""
        known = {key: value for key, value in configs.items() if key in TOPIC_ADMIN_CONFIG}
        config = TOPIC_ADMIN_CONFIG.parse(known)
        self._client = AdminClient(configs, time)
        self._time = time
        self._timeout_ms: int = config["default.api.timeout.ms"]
        self._backoff_ms: int = config["retry.backoff.ms"]
        self._brokers = ",".join(config["bootstrap.servers"])

    # ── creation ──────────────────────────────────────────────────────────────────────────────────────────────────

    def ensure_exists(
        self, topic: str, partitions: int, replication_factor: int, configs: Mapping[str, str] = NO_CONFIGS
    ) -> bool:
        """Create a topic unless there is one of this name. True if it was created. Raises ConnectError."""
        try:
            cluster = describe_cluster(self._client)
            if any(each.name == topic and each.error_code != _UNKNOWN for each in cluster.topics):
                return False
            logger.info("Topic %s doesn't exist. Will attempt to create topic.", topic)
            return self._create(cluster, creatable_topic(topic, partitions, replication_factor, configs))
        except (ConnectionError, ApiError) as error:
            raise ConnectError(f"Could not create topic {topic}: {error}") from error

    def create_with_retry(
        self, topic: str, partitions: int, replication_factor: int, configs: Mapping[str, str] = NO_CONFIGS
    ) -> bool:
        """Create a topic; True if that was done, False if there is one, or if this worker cannot create any.

        The brokers may be about to start: it is tried again for ``default.api.timeout.ms``. -1 for ``partitions`` or
        ``replication_factor`` is the brokers' default. If the brokers are older than CreateTopics, or older than 2.4
        and -1 is given, or if the worker may not create topics, the topic is there or they create it by themselves.
        Raises ConnectError.
        """
        entry = creatable_topic(topic, partitions, replication_factor, configs)
        deadline_ms, backoff_ms = self._time.hi_res_ms() + self._timeout_ms, self._backoff_ms
        while True:
            try:
                return self._create(describe_cluster(self._client), entry)
            except ApiError as error:
                if error.error in _CANNOT:
                    logger.debug("Cannot create topic '%s' on the brokers at %s: %s", topic, self._brokers, error)
                    return False
                failure: Exception = error
            except ConnectionError as error:
                failure = error
            left_ms = deadline_ms - self._time.hi_res_ms()
            if left_ms <= 0 or not _passes(failure):
                raise _not_created(topic, failure) from failure
            logger.info("'%s' topic creation failed due to '%s', retrying, %dms remaining", topic, failure, left_ms)
            self._time.sleep(min(backoff_ms, left_ms))
            backoff_ms = min(2 * backoff_ms, MAX_BACKOFF_MS)

    def _create(self, cluster: MetadataResponse, entry: CreatableTopic) -> bool:
        """Raises ConnectionError, ApiError."""
        controller = controller_of(cluster)
        if controller is None:
            raise ConnectionError("the cluster has no controller at the moment")
        request = CreateTopicsRequest(topics=[entry], timeout_ms=TIMEOUT_MS)
        oldest = _WITH_DEFAULTS if BROKERS_DEFAULT in (entry.num_partitions, entry.replication_factor) else 0
        result = self._client.send(controller, request, CreateTopicsResponse, min_version=oldest).topics[0]
        error = Errors.for_code(result.error_code)
        if error not in (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS):
            raise error.exception(result.error_message or error.name)
        if error is Errors.NONE:
            logger.info("Created topic %s on brokers at %s", entry.name, self._brokers)
        return error is Errors.NONE

    def cluster_id(self) -> str | None:
        """The id of the cluster; None if no broker can be asked, or if they are older than 0.10.1."""
        try:
            return self._client.send_any_node(MetadataRequest(topics=[]), MetadataResponse).cluster_id
        except (ConnectionError, ApiError) as error:
            logger.info("The brokers at %s do not say which cluster they are: %s", self._brokers, error)
            return None

    # ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────

    def verify_only_compact(self, topic: str, setting: str, purpose: str) -> bool:
        """Check that a topic is compacted, and nothing else: ``compact,delete`` would lose records by their age, too.

        ``setting`` is the worker's key that names the topic, ``purpose`` what the topic keeps, for the message. False
        if the brokers do not say: they are older than 0.11, or the worker may not ask. Raises ConnectError.
        """
        found = self.cleanup_policy(topic)
        if not found:
            logger.info(
                "Unable to use admin client to verify the cleanup policy of '%s' topic is '%s', either because the "
                "broker is an older version or because the Kafka principal used for Connect internal topics does not "
                "have the required permission to describe topic configurations.", topic, COMPACT,
            )  # fmt: skip
            return False
        if found != {COMPACT}:
            raise ConnectError(
                f"Topic '{topic}' supplied via the '{setting}' property is required to have "
                f"'{CLEANUP_POLICY}={COMPACT}' to guarantee consistency and durability of {purpose}, but found the "
                f"topic currently has '{CLEANUP_POLICY}={','.join(sorted(found))}'. Continuing would likely result in "
                f"eventually losing {purpose} and problems restarting this Connect cluster in the future. Change the "
                f"'{setting}' property in the Connect worker configurations to use a topic with "
                f"'{CLEANUP_POLICY}={COMPACT}'."
            )
        return True

    def cleanup_policy(self, topic: str) -> frozenset[str]:
        """The parts of a topic's ``cleanup.policy``. Empty if there is no such topic, or the brokers do not say.

        Raises ConnectError.
        """
        try:
            result = self._describe(topic)
        except ConnectionError as error:
            raise ConnectError(
                f"Timed out while waiting to describe topic config for topic '{topic}' on brokers at {self._brokers}"
            ) from error
        except ApiError as error:
            if error.error in _CANNOT or error.error is Errors.UNKNOWN_TOPIC_OR_PARTITION:
                return frozenset()
            raise ConnectError(
                f"Error while attempting to describe topic config for topic '{topic}' on brokers at {self._brokers}: "
                f"{error}"
            ) from error
        policies = [each.value or "" for each in result.configs if each.name == CLEANUP_POLICY]
        return frozenset(part.strip().lower() for text in policies for part in text.split(",") if part.strip())

    def _describe(self, topic: str) -> DescribeConfigsResult:
        """Raises ConnectionError, ApiError."""
        resource = DescribeConfigsResource(
            resource_type=_TOPIC_RESOURCE, resource_name=topic, configuration_keys=[CLEANUP_POLICY]
        )
        request = DescribeConfigsRequest(resources=[resource])
        (result,) = self._client.send_any_node(request, DescribeConfigsResponse).results
        if result.error_code:
            raise Errors.for_code(result.error_code).exception(result.error_message)
        return result


def creatable_topic(topic: str, partitions: int, replication_factor: int, configs: Mapping[str, str]) -> CreatableTopic:
    """A topic of a CreateTopicsRequest, whose replicas the controller places. -1 is the brokers' default."""
    own = [CreatableTopicConfig(name=name, value=value) for name, value in configs.items()]
    return CreatableTopic(name=topic, num_partitions=partitions, replication_factor=replication_factor, configs=own)


def _passes(failure: Exception) -> bool:
    if isinstance(failure, ApiError):
        return failure.error in _PASSES
    return not isinstance(failure, AuthenticationError)


def _not_created(topic: str, failure: Exception) -> ConnectError:
    if isinstance(failure, ApiError) and failure.error is Errors.INVALID_CONFIG:
        return ConnectError(f"Unable to create topic(s) '{topic}': {failure}")
    if isinstance(failure, AuthenticationError) or (
        isinstance(failure, ApiError) and failure.error is not Errors.REQUEST_TIMED_OUT
    ):
        return ConnectError(f"Error while attempting to create/find topic(s) '{topic}': {failure}")
    return ConnectError(
        f"Timed out while checking for or creating topic(s) '{topic}'. This could indicate a connectivity issue, "
        "unavailable topic partitions, or if this is your first use of the topic it may have taken too long to create."
    )
