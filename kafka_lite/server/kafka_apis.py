"""The table of all requests that this broker serves, and the path of a request.

Kafka 0.10.2: core/.../server/KafkaApis.scala · book 2.3.5
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.network.large_requests import OF_CONTROLLER
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import SMALL_RESPONSE_BYTES, RequestChannel
from kafka_lite.network.request_channel import Response as ChannelResponse
from kafka_lite.network.send import NetworkSend
from kafka_lite.network.unserved_requests import UnservedRequests, describe_api
from kafka_lite.protocol.api_keys import ApiKey, api_name
from kafka_lite.protocol.encoder_compiler import LongArrayError
from kafka_lite.protocol.framing import encode_short_response
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message, Response
from kafka_lite.protocol.schema import Request as RequestMessage
from kafka_lite.server.apis.acl_apis import AclApis
from kafka_lite.server.apis.admin_apis import AdminApis
from kafka_lite.server.apis.api_handler import ApiRange, Handler, HandlerWrapper, Respond
from kafka_lite.server.apis.client_quota_apis import ClientQuotaApis
from kafka_lite.server.apis.consumer_group_apis import ConsumerGroupApis
from kafka_lite.server.apis.delegation_token_apis import DelegationTokenApis
from kafka_lite.server.apis.feature_apis import FeatureApis
from kafka_lite.server.apis.fetch_apis import FetchApis
from kafka_lite.server.apis.group_apis import GroupApis
from kafka_lite.server.apis.log_dir_apis import LogDirApis
from kafka_lite.server.apis.log_offset_apis import LogOffsetApis
from kafka_lite.server.apis.metadata_apis import MetadataApis
from kafka_lite.server.apis.offset_apis import OffsetApis
from kafka_lite.server.apis.partition_admin_apis import PartitionAdminApis
from kafka_lite.server.apis.produce_apis import ProduceApis
from kafka_lite.server.apis.producer_id_apis import ProducerIdApis
from kafka_lite.server.apis.replication_apis import ReplicationApis
from kafka_lite.server.apis.sasl_apis import SaslApis
from kafka_lite.server.apis.telemetry_apis import TelemetryApis
from kafka_lite.server.apis.transaction_apis import TransactionApis
from kafka_lite.server.apis.txn_marker_apis import TxnMarkerApis
from kafka_lite.server.auth.consumer_group_switch import OF_CONSUMER_GROUPS
from kafka_lite.server.quotas.request_handler_helper import RequestHandlerHelper
from kafka_lite.server.responses.long_responses import LongResponses

logger = logging.getLogger(__name__)

NO_PROCESSOR = -1
OWN_CONNECTION = "own"
"""Stands for the connection id in a request of this broker to itself."""

SERVED_VERSIONS: dict[ApiKey, ApiRange] = {
    # An API that is not in this table is neither advertised nor served. A maximum below that of today's Kafka has its
    # reason beside it. The minimum is 0, for clients of 0.8, but for share groups: Kafka 4.1 has
    # dropped their first versions.
    ApiKey.PRODUCE: ApiRange(0, 13),
    ApiKey.FETCH: ApiRange(0, 17),  # 18: high watermarks of followers, in KRaft only
    ApiKey.LIST_OFFSETS: ApiRange(0, 10),
    ApiKey.METADATA: ApiRange(0, 13),
    ApiKey.LEADER_AND_ISR: ApiRange(0, 5),  # 6: recovery after an unclean election, in KRaft only
    ApiKey.STOP_REPLICA: ApiRange(0, 3),  # 4: a controller of KRaft
    ApiKey.UPDATE_METADATA: ApiRange(0, 7),  # 8: a controller of KRaft
    ApiKey.CONTROLLED_SHUTDOWN: ApiRange(0, 3),
    ApiKey.OFFSET_COMMIT: ApiRange(0, 10),
    ApiKey.OFFSET_FETCH: ApiRange(0, 10),
    ApiKey.FIND_COORDINATOR: ApiRange(0, 6),
    ApiKey.JOIN_GROUP: ApiRange(0, 9),
    ApiKey.HEARTBEAT: ApiRange(0, 4),
    ApiKey.LEAVE_GROUP: ApiRange(0, 5),
    ApiKey.SYNC_GROUP: ApiRange(0, 5),
    ApiKey.DESCRIBE_GROUPS: ApiRange(0, 6),
    ApiKey.LIST_GROUPS: ApiRange(0, 5),
    ApiKey.SASL_HANDSHAKE: ApiRange(0, 1),
    ApiKey.API_VERSIONS: ApiRange(0, 4),
    ApiKey.CREATE_TOPICS: ApiRange(0, 7),
    ApiKey.DELETE_TOPICS: ApiRange(0, 6),
    ApiKey.DELETE_RECORDS: ApiRange(0, 2),
    ApiKey.INIT_PRODUCER_ID: ApiRange(0, 5),  # 6: transactions that wait for a database's decision (KIP-939)
    ApiKey.OFFSET_FOR_LEADER_EPOCH: ApiRange(0, 4),
    ApiKey.ADD_PARTITIONS_TO_TXN: ApiRange(0, 5),
    ApiKey.ADD_OFFSETS_TO_TXN: ApiRange(0, 4),
    ApiKey.END_TXN: ApiRange(0, 5),
    ApiKey.WRITE_TXN_MARKERS: ApiRange(0, 1),
    ApiKey.TXN_OFFSET_COMMIT: ApiRange(0, 5),
    ApiKey.DESCRIBE_ACLS: ApiRange(0, 3),
    ApiKey.CREATE_ACLS: ApiRange(0, 3),
    ApiKey.DELETE_ACLS: ApiRange(0, 3),
    ApiKey.DESCRIBE_CONFIGS: ApiRange(0, 4),
    ApiKey.ALTER_CONFIGS: ApiRange(0, 2),
    ApiKey.ALTER_REPLICA_LOG_DIRS: ApiRange(0, 2),
    ApiKey.DESCRIBE_LOG_DIRS: ApiRange(0, 4),
    ApiKey.SASL_AUTHENTICATE: ApiRange(0, 2),
    ApiKey.CREATE_PARTITIONS: ApiRange(0, 3),
    ApiKey.CREATE_DELEGATION_TOKEN: ApiRange(0, 3),
    ApiKey.RENEW_DELEGATION_TOKEN: ApiRange(0, 2),
    ApiKey.EXPIRE_DELEGATION_TOKEN: ApiRange(0, 2),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: ApiRange(0, 3),
    ApiKey.DELETE_GROUPS: ApiRange(0, 2),
    ApiKey.ELECT_LEADERS: ApiRange(0, 2),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: ApiRange(0, 1),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: ApiRange(0, 1),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: ApiRange(0, 0),
    ApiKey.OFFSET_DELETE: ApiRange(0, 0),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: ApiRange(0, 1),
    ApiKey.ALTER_CLIENT_QUOTAS: ApiRange(0, 1),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: ApiRange(0, 0),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: ApiRange(0, 0),
    ApiKey.UPDATE_FEATURES: ApiRange(0, 2),
    ApiKey.DESCRIBE_CLUSTER: ApiRange(0, 2),
    ApiKey.DESCRIBE_PRODUCERS: ApiRange(0, 0),
    ApiKey.DESCRIBE_TRANSACTIONS: ApiRange(0, 0),
    ApiKey.LIST_TRANSACTIONS: ApiRange(0, 2),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: ApiRange(0, 1),
    ApiKey.CONSUMER_GROUP_DESCRIBE: ApiRange(0, 1),
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: ApiRange(0, 0),
    ApiKey.PUSH_TELEMETRY: ApiRange(0, 0),
    ApiKey.LIST_CONFIG_RESOURCES: ApiRange(0, 1),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: ApiRange(0, 0),
    ApiKey.SHARE_GROUP_HEARTBEAT: ApiRange(1, 1),
    ApiKey.SHARE_GROUP_DESCRIBE: ApiRange(1, 1),
    ApiKey.SHARE_FETCH: ApiRange(1, 1),
    ApiKey.SHARE_ACKNOWLEDGE: ApiRange(1, 1),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: ApiRange(0, 0),
    ApiKey.READ_SHARE_GROUP_STATE: ApiRange(0, 0),
    ApiKey.WRITE_SHARE_GROUP_STATE: ApiRange(0, 0),
    ApiKey.DELETE_SHARE_GROUP_STATE: ApiRange(0, 0),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: ApiRange(0, 0),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: ApiRange(0, 0),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: ApiRange(0, 0),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: ApiRange(0, 0),
}


def served_versions(*, consumer_groups: bool) -> dict[ApiKey, ApiRange]:
    """The versions to advertise, by whether ``group.coordinator.rebalance.protocols`` has ``consumer``."""
    left_out = frozenset() if consumer_groups else OF_CONSUMER_GROUPS
    return {api_key: served for api_key, served in SERVED_VERSIONS.items() if api_key not in left_out}


@dataclass(frozen=True)
class ApiHandlers:
    """The objects with the handlers of all requests."""

    produce: ProduceApis
    fetch: FetchApis
    log_offsets: LogOffsetApis
    metadata: MetadataApis
    admin: AdminApis
    partition_admin: PartitionAdminApis
    client_quotas: ClientQuotaApis
    producer_ids: ProducerIdApis
    groups: GroupApis
    consumer_groups: ConsumerGroupApis
    offsets: OffsetApis
    replication: ReplicationApis
    log_dirs: LogDirApis
    transactions: TransactionApis
    txn_markers: TxnMarkerApis
    sasl: SaslApis
    acls: AclApis
    delegation_tokens: DelegationTokenApis
    telemetry: TelemetryApis
    features: FeatureApis
    share_groups: Mapping[ApiKey, Handler]
    """All requests about share groups; what serves them is made for the first of them."""

    def table_of_heads(self) -> dict[ApiKey, Handler]:
        """Handlers that look at the start of a large request; they respond only if that is reason to refuse it."""
        return dict.fromkeys(OF_CONTROLLER, self.replication.check_head)

    def table(self) -> dict[ApiKey, Handler]:
        """The handler of each request."""
        return {
            ApiKey.PRODUCE: self.produce.handle_produce,
            ApiKey.FETCH: self.fetch.handle_fetch,
            ApiKey.LIST_OFFSETS: self.log_offsets.handle_list_offsets,
            ApiKey.METADATA: self.metadata.handle_metadata,
            ApiKey.LEADER_AND_ISR: self.replication.handle_leader_and_isr,
            ApiKey.STOP_REPLICA: self.replication.handle_stop_replica,
            ApiKey.UPDATE_METADATA: self.replication.handle_update_metadata,
            ApiKey.CONTROLLED_SHUTDOWN: self.replication.handle_controlled_shutdown,
            ApiKey.FIND_COORDINATOR: self.metadata.handle_find_coordinator,
            ApiKey.API_VERSIONS: self.metadata.handle_api_versions,
            ApiKey.CREATE_TOPICS: self.admin.handle_create_topics,
            ApiKey.DELETE_TOPICS: self.admin.handle_delete_topics,
            ApiKey.DELETE_RECORDS: self.log_offsets.handle_delete_records,
            ApiKey.INIT_PRODUCER_ID: self.producer_ids.handle_init_producer_id,
            ApiKey.OFFSET_FOR_LEADER_EPOCH: self.log_offsets.handle_offset_for_leader_epoch,
            ApiKey.DESCRIBE_CONFIGS: self.admin.handle_describe_configs,
            ApiKey.ALTER_CONFIGS: self.admin.handle_alter_configs,
            ApiKey.ALTER_REPLICA_LOG_DIRS: self.log_dirs.handle_alter_replica_log_dirs,
            ApiKey.DESCRIBE_LOG_DIRS: self.log_dirs.handle_describe_log_dirs,
            ApiKey.CREATE_PARTITIONS: self.admin.handle_create_partitions,
            ApiKey.ELECT_LEADERS: self.partition_admin.handle_elect_leaders,
            ApiKey.ALTER_PARTITION_REASSIGNMENTS: self.partition_admin.handle_alter_partition_reassignments,
            ApiKey.LIST_PARTITION_REASSIGNMENTS: self.partition_admin.handle_list_partition_reassignments,
            ApiKey.INCREMENTAL_ALTER_CONFIGS: self.admin.handle_incremental_alter_configs,
            ApiKey.UPDATE_FEATURES: self.features.handle_update_features,
            ApiKey.DESCRIBE_CLUSTER: self.metadata.handle_describe_cluster,
            ApiKey.DESCRIBE_PRODUCERS: self.producer_ids.handle_describe_producers,
            ApiKey.ADD_PARTITIONS_TO_TXN: self.transactions.handle_add_partitions_to_txn,
            ApiKey.ADD_OFFSETS_TO_TXN: self.transactions.handle_add_offsets_to_txn,
            ApiKey.END_TXN: self.transactions.handle_end_txn,
            ApiKey.WRITE_TXN_MARKERS: self.txn_markers.handle_write_txn_markers,
            ApiKey.DESCRIBE_TRANSACTIONS: self.transactions.handle_describe_transactions,
            ApiKey.LIST_TRANSACTIONS: self.transactions.handle_list_transactions,
            ApiKey.LIST_CONFIG_RESOURCES: self.admin.handle_list_config_resources,
            ApiKey.DESCRIBE_TOPIC_PARTITIONS: self.metadata.handle_describe_topic_partitions,
            **self._table_of_groups(),
            **self.share_groups,
            **self._table_of_users(),
        }

    def _table_of_groups(self) -> dict[ApiKey, Handler]:
        return {
            ApiKey.JOIN_GROUP: self.groups.handle_join_group,
            ApiKey.HEARTBEAT: self.groups.handle_heartbeat,
            ApiKey.LEAVE_GROUP: self.groups.handle_leave_group,
            ApiKey.SYNC_GROUP: self.groups.handle_sync_group,
            ApiKey.DESCRIBE_GROUPS: self.groups.handle_describe_groups,
            ApiKey.LIST_GROUPS: self.groups.handle_list_groups,
            ApiKey.DELETE_GROUPS: self.groups.handle_delete_groups,
            ApiKey.OFFSET_COMMIT: self.offsets.handle_offset_commit,
            ApiKey.OFFSET_FETCH: self.offsets.handle_offset_fetch,
            ApiKey.OFFSET_DELETE: self.offsets.handle_offset_delete,
            ApiKey.TXN_OFFSET_COMMIT: self.offsets.handle_txn_offset_commit,
            ApiKey.CONSUMER_GROUP_HEARTBEAT: self.consumer_groups.handle_heartbeat,
            ApiKey.CONSUMER_GROUP_DESCRIBE: self.consumer_groups.handle_describe,
        }

    def _table_of_users(self) -> dict[ApiKey, Handler]:
        return {
            ApiKey.DESCRIBE_CLIENT_QUOTAS: self.client_quotas.handle_describe_client_quotas,
            ApiKey.ALTER_CLIENT_QUOTAS: self.client_quotas.handle_alter_client_quotas,
            ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: self.telemetry.handle_get_telemetry_subscriptions,
            ApiKey.PUSH_TELEMETRY: self.telemetry.handle_push_telemetry,
            ApiKey.DESCRIBE_ACLS: self.acls.handle_describe_acls,
            ApiKey.CREATE_ACLS: self.acls.handle_create_acls,
            ApiKey.DELETE_ACLS: self.acls.handle_delete_acls,
            ApiKey.SASL_HANDSHAKE: self.sasl.handle_sasl_handshake,
            ApiKey.SASL_AUTHENTICATE: self.sasl.handle_sasl_authenticate,
            ApiKey.CREATE_DELEGATION_TOKEN: self.delegation_tokens.handle_create_delegation_token,
            ApiKey.RENEW_DELEGATION_TOKEN: self.delegation_tokens.handle_renew_delegation_token,
            ApiKey.EXPIRE_DELEGATION_TOKEN: self.delegation_tokens.handle_expire_delegation_token,
            ApiKey.DESCRIBE_DELEGATION_TOKEN: self.delegation_tokens.handle_describe_delegation_token,
            ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: self.sasl.handle_describe_user_scram_credentials,
            ApiKey.ALTER_USER_SCRAM_CREDENTIALS: self.sasl.handle_alter_user_scram_credentials,
        }


class KafkaApis:
    """Looks up the handler of a request, and sends its response through the channel.

    The response may be sent later, by the thread that completes a delayed operation.
    """

    def __init__(
        self,
        request_channel: RequestChannel,
        unserved_requests: UnservedRequests,
        handlers: ApiHandlers,
        request_helper: RequestHandlerHelper,
    ) -> None:
        self._channel = request_channel
        self._long_responses = LongResponses(request_channel)
        self._request_helper = request_helper
        self._quotas = request_helper.quotas
        self._unserved = unserved_requests
        self._metadata = handlers.metadata
        self.handlers = handlers.table()
        self._head_handlers = handlers.table_of_heads()
        self._routes = self._served_routes()

    def _served_routes(self) -> dict[tuple[int, int], Handler]:
        """The handlers by key and version, so that a request needs a single look-up."""
        return {
            (int(api_key), version): self.handlers[api_key]
            for api_key, served in SERVED_VERSIONS.items()
            for version in range(served.min_version, served.max_version + 1)
        }

    def wrap_handlers(self, wrap: HandlerWrapper) -> None:
        """Put another handler in front of each one."""
        self.handlers = {api_key: wrap(api_key, handler) for api_key, handler in self.handlers.items()}
        self._head_handlers = {key: wrap(key, handler) for key, handler in self._head_handlers.items()}
        self._routes = self._served_routes()

    def handle(self, request: Request) -> None:
        """Handle one request. A request that is not in the table closes its connection, as in Kafka."""
        header = request.header
        if request.unsupported_api_version:
            self._send(request, 0, self._metadata.unsupported_api_versions())
            return
        handler = self._routes.get((header.api_key, header.api_version))
        if handler is None:
            self._report_unserved(request)
            self._channel.close_connection(request)
            return
        respond = self._responder(request)
        if self._quotas.is_enabled:
            respond = self._throttling(request, respond)
        handler(request, request.body, respond)

    def refuse(self, request: Request, head: Message) -> bool:
        """Refuse a request for the numbers at its start if they are reason enough; returns whether they are."""
        handler = self._head_handlers.get(ApiKey(request.header.api_key))
        if handler is None or (request.header.api_key, request.header.api_version) not in self._routes:
            return False
        respond, is_refused = self._responder(request), False

        def refused(response: Response | None) -> None:
            nonlocal is_refused
            is_refused = True
            respond(response)

        handler(request, head, refused)
        return is_refused

    def _report_unserved(self, request: Request) -> None:
        header = request.header
        asked_for = describe_api(header.api_key, api_name(header.api_key))
        if ApiKey(header.api_key) in SERVED_VERSIONS:
            asked_for = f"{asked_for} version {header.api_version}"
        outcome = f"closing connection {request.connection_id}"
        self._unserved.report(header.client_id, request.client_address, asked_for, outcome)

    def handle_own(self, body: RequestMessage, version: int) -> Response:
        """Handle a request of this broker to itself like a client's request, and return the response.

        Only for handlers that respond before they return. Raises KafkaError if there is no response.
        """
        header = RequestHeader(api_key=body.API_KEY, api_version=version)
        request = Request(NO_PROCESSOR, OWN_CONNECTION, "", "", "", header, body, 0, SYSTEM_TIME.hi_res_ms())
        responses: list[Response | None] = []
        self.handlers[body.API_KEY](request, body, responses.append)
        response = responses[0] if responses else None
        if response is None:
            raise KafkaError(f"a request of {body.API_KEY.name} got no response")
        return response

    def _throttling(self, request: Request, send: Respond) -> Respond:
        """Records what the request costs before the response is sent, and delays the client if that is too much."""

        def respond(response: Response | None) -> None:
            self._request_helper.respond(request, response, send)

        return respond

    def _responder(self, request: Request) -> Respond:
        def respond(response: Response | None) -> None:
            if response is None:
                self._channel.no_operation(request)
                return
            try:
                self._send(request, request.header.api_version, response)
            except Exception:
                # Caught here: a thread that completes a delayed operation may be handling another request.
                logger.exception(
                    "Error when responding to %s, apiKey %d", request.connection_id, request.header.api_key
                )
                self._channel.close_connection(request)

        return respond

    def _send(self, request: Request, version: int, response: Response) -> None:
        if request.client_has_left:
            self._channel.no_operation(request)  # fifty thousand elements need not be encoded for nobody
            return
        try:
            parts = encode_short_response(response, version, request.header.correlation_id)
        except LongArrayError:
            self._long_responses.send(request, version, response)
            return
        send = NetworkSend(request.connection_id, parts)
        if send.size_in_bytes > SMALL_RESPONSE_BYTES:
            self._long_responses.send_encoded(request, send, parts)
        else:
            self._channel.send_response(ChannelResponse(request, send))
