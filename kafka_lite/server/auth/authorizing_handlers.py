"""The table of all requests: who may send them, and what is refused or left out.

Kafka 0.10.2: core/.../server/KafkaApis.scala, where each handler asks by itself · book 2.3.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.security.authorizer.acl_binding import AclOperation
from kafka_lite.security.authorizer.resource_pattern import ResourceType
from kafka_lite.server.apis.api_handler import Handler, HandlerWrapper, Respond
from kafka_lite.server.apis.topic_ids.offset_topic_ids import by_topic_ids
from kafka_lite.server.apis.topic_ids.produce_topic_ids import by_produce_topic_ids
from kafka_lite.server.auth import admin_rules, client_rules, delegation_token_rules, share_rules
from kafka_lite.server.auth.admin_rules import DeleteTopicsRule
from kafka_lite.server.auth.auth_helper import AuthHelper, AuthorizerError
from kafka_lite.server.auth.client_rules import MetadataRule, TopicPagesRule
from kafka_lite.server.auth.refusals import refused
from kafka_lite.server.auth.rules import KnownTopics, Rule, free, on_cluster, on_each, on_named, on_topics

logger = logging.getLogger(__name__)

_OP = AclOperation
TOPIC, GROUP, TRANSACTIONAL_ID = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
_read_group = on_named(_OP.READ, GROUP, "group_id")

RULES: dict[ApiKey, Rule] = {
    ApiKey.PRODUCE: client_rules.produce,
    ApiKey.FETCH: free,  # the partitions of a session are not in the request: see FetchApis
    ApiKey.LIST_OFFSETS: on_topics(_OP.DESCRIBE),
    ApiKey.LEADER_AND_ISR: on_cluster(_OP.CLUSTER_ACTION),
    ApiKey.STOP_REPLICA: on_cluster(_OP.CLUSTER_ACTION),
    ApiKey.UPDATE_METADATA: on_cluster(_OP.CLUSTER_ACTION),
    ApiKey.CONTROLLED_SHUTDOWN: on_cluster(_OP.CLUSTER_ACTION),
    ApiKey.OFFSET_COMMIT: on_named(_OP.READ, GROUP, "group_id", on_topics(_OP.READ)),
    ApiKey.OFFSET_FETCH: client_rules.offset_fetch,
    ApiKey.FIND_COORDINATOR: client_rules.find_coordinator,
    ApiKey.JOIN_GROUP: _read_group,
    ApiKey.HEARTBEAT: _read_group,
    ApiKey.LEAVE_GROUP: _read_group,
    ApiKey.SYNC_GROUP: client_rules.sync_group,
    ApiKey.DESCRIBE_GROUPS: admin_rules.describe_groups,
    ApiKey.LIST_GROUPS: admin_rules.list_groups,
    ApiKey.SASL_HANDSHAKE: free,
    ApiKey.API_VERSIONS: free,
    ApiKey.CREATE_TOPICS: admin_rules.create_topics,
    ApiKey.DELETE_RECORDS: on_topics(_OP.DELETE),
    ApiKey.INIT_PRODUCER_ID: client_rules.init_producer_id,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: client_rules.offset_for_leader_epoch,
    ApiKey.ADD_PARTITIONS_TO_TXN: client_rules.add_partitions_to_txn,
    ApiKey.ADD_OFFSETS_TO_TXN: on_named(_OP.WRITE, TRANSACTIONAL_ID, "transactional_id", _read_group),
    ApiKey.END_TXN: on_named(_OP.WRITE, TRANSACTIONAL_ID, "transactional_id"),
    ApiKey.WRITE_TXN_MARKERS: on_cluster(_OP.CLUSTER_ACTION, instead=_OP.ALTER),
    ApiKey.TXN_OFFSET_COMMIT: on_named(
        _OP.WRITE, TRANSACTIONAL_ID, "transactional_id", on_named(_OP.READ, GROUP, "group_id", on_topics(_OP.READ))
    ),
    ApiKey.DESCRIBE_ACLS: on_cluster(_OP.DESCRIBE),
    ApiKey.CREATE_ACLS: on_cluster(_OP.ALTER),
    ApiKey.DELETE_ACLS: on_cluster(_OP.ALTER),
    ApiKey.DESCRIBE_CONFIGS: admin_rules.describe_configs,
    ApiKey.ALTER_CONFIGS: admin_rules.alter_configs,
    ApiKey.ALTER_REPLICA_LOG_DIRS: on_cluster(_OP.ALTER),
    ApiKey.DESCRIBE_LOG_DIRS: on_cluster(_OP.DESCRIBE),
    ApiKey.SASL_AUTHENTICATE: free,
    ApiKey.CREATE_PARTITIONS: on_topics(_OP.ALTER),
    ApiKey.CREATE_DELEGATION_TOKEN: delegation_token_rules.create_delegation_token,
    ApiKey.RENEW_DELEGATION_TOKEN: free,  # the secret is the right: see DelegationTokenManager
    ApiKey.EXPIRE_DELEGATION_TOKEN: free,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: free,  # what a user may not see is left out: see DelegationTokenApis
    ApiKey.DELETE_GROUPS: on_each(_OP.DELETE, GROUP, lambda body: body.groups_names),
    ApiKey.ELECT_LEADERS: on_cluster(_OP.ALTER),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: admin_rules.incremental_alter_configs,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: on_cluster(_OP.ALTER),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: on_cluster(_OP.DESCRIBE),
    ApiKey.OFFSET_DELETE: client_rules.offset_delete,
    ApiKey.DESCRIBE_CLIENT_QUOTAS: on_cluster(_OP.DESCRIBE_CONFIGS),
    ApiKey.ALTER_CLIENT_QUOTAS: on_cluster(_OP.ALTER_CONFIGS),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: on_cluster(_OP.DESCRIBE),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: on_cluster(_OP.ALTER),
    ApiKey.DESCRIBE_CLUSTER: admin_rules.describe_cluster,
    ApiKey.DESCRIBE_PRODUCERS: on_topics(_OP.READ),
    ApiKey.DESCRIBE_TRANSACTIONS: admin_rules.describe_transactions,
    ApiKey.LIST_TRANSACTIONS: admin_rules.list_transactions,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: on_named(_OP.READ, GROUP, "group_id", client_rules.subscribed_topics),
    ApiKey.CONSUMER_GROUP_DESCRIBE: admin_rules.consumer_group_describe,
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: free,  # any client may push its metrics
    ApiKey.PUSH_TELEMETRY: free,
    ApiKey.UPDATE_FEATURES: on_cluster(_OP.ALTER),
    ApiKey.LIST_CONFIG_RESOURCES: on_cluster(_OP.DESCRIBE_CONFIGS),
    ApiKey.SHARE_GROUP_HEARTBEAT: on_named(_OP.READ, GROUP, "group_id", client_rules.subscribed_topics),
    ApiKey.SHARE_GROUP_DESCRIBE: admin_rules.share_group_describe,
    ApiKey.SHARE_FETCH: _read_group,  # the partitions of a session are not in the request: see ShareFetchApis
    ApiKey.SHARE_ACKNOWLEDGE: _read_group,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: share_rules.describe_share_group_offsets,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: share_rules.on_share_group(_OP.READ),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: share_rules.on_share_group(_OP.DELETE),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: on_cluster(_OP.CLUSTER_ACTION),
    ApiKey.READ_SHARE_GROUP_STATE: on_cluster(_OP.CLUSTER_ACTION),
    ApiKey.WRITE_SHARE_GROUP_STATE: on_cluster(_OP.CLUSTER_ACTION),
    ApiKey.DELETE_SHARE_GROUP_STATE: on_cluster(_OP.CLUSTER_ACTION),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: on_cluster(_OP.CLUSTER_ACTION),
}
"""The rule of each request but Metadata, DeleteTopics and DescribeTopicPartitions, whose rules need to know the topics.
A request without a rule is refused, so that a new handler cannot be forgotten here."""

WITH_TOPIC_IDS = frozenset({ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH})
"""Requests whose topics have ids in place of names in the latest versions."""


def authorizing(auth: AuthHelper, auto_create_topics: bool, topics: KnownTopics) -> HandlerWrapper:
    """Puts its rule in front of each handler. Requests of the broker to itself need no rights."""
    rules: dict[ApiKey, Rule] = {
        **RULES,
        ApiKey.METADATA: MetadataRule(auto_create_topics, topics),
        ApiKey.DELETE_TOPICS: DeleteTopicsRule(topics),
        ApiKey.DESCRIBE_TOPIC_PARTITIONS: TopicPagesRule(topics),
    }

    def wrap(api_key: ApiKey, handler: Handler) -> Handler:
        rule = rules[api_key]
        if rule is free:
            return handler
        handle = _checked(auth, rule, handler)
        # Rules are about topics' names.
        if api_key is ApiKey.PRODUCE:
            return by_produce_topic_ids(topics, auth.close_connection, handle)
        return by_topic_ids(topics, handle) if api_key in WITH_TOPIC_IDS else handle

    return wrap


def _checked(auth: AuthHelper, rule: Rule, handler: Handler) -> Handler:
    def handle(request: Request, body: Any, respond: Respond) -> None:
        if request.processor < 0:  # this broker's own
            handler(request, body, respond)
            return
        try:
            rule(auth, request, body, respond, handler)
        except AuthorizerError:
            logger.exception("Cannot authorize a request of %s", request.principal)
            _refuse_undecided(auth, request, body, respond)

    return handle


def _refuse_undecided(auth: AuthHelper, request: Request, body: Any, respond: Respond) -> None:
    """A client that expects no response hears of the error by the end of its connection."""
    if body.API_KEY is ApiKey.PRODUCE and body.acks == 0:
        auth.close_connection(request)
    else:
        respond(refused(request, body, Errors.UNKNOWN_SERVER_ERROR))


def visible_rule(auth: AuthHelper) -> Callable[[Request, Iterable[str]], frozenset[str]]:
    """For ``ConsumerGroupApis``: the topics that a client may describe, so that a regular expression may mean them."""

    def visible(request: Request, topics: Iterable[str]) -> frozenset[str]:
        names = frozenset(topics)
        return names - auth.denied(request, _OP.DESCRIBE, TOPIC, names, log_if_denied=False)

    return visible


def fetch_rule(auth: AuthHelper) -> Callable[[Request, bool, set[str]], set[str]]:
    """For ``FetchApis``: which of the topics a client, or a follower, may not read."""

    def denied(request: Request, from_follower: bool, topics: set[str]) -> set[str]:
        if from_follower:
            return set() if auth.authorize_cluster(request, _OP.CLUSTER_ACTION) else topics
        return auth.denied(request, _OP.READ, TOPIC, topics)

    return denied


def share_fetch_rule(auth: AuthHelper) -> Callable[[Request, set[str]], set[str]]:
    """For ``ShareFetchApis``: which of the topics a client may not read."""

    def denied(request: Request, topics: set[str]) -> set[str]:
        return auth.denied(request, _OP.READ, TOPIC, topics)

    return denied
