"""Sends requests to many brokers over one selector: connects, negotiates versions, updates metadata, times out.

Kafka 0.10.2: clients/.../clients/NetworkClient.java, KafkaClient.java · book 2.1.3
"""

from __future__ import annotations

import logging
import math
import random
from typing import cast

import kafka_lite
from kafka_lite.clients.api_versions import ApiVersions
from kafka_lite.clients.client_request import ClientRequest, ClientResponse, RequestBuilder, RequestCompletionHandler
from kafka_lite.clients.cluster import Node
from kafka_lite.clients.cluster_connection_states import ClusterConnectionStates, ConnectionState
from kafka_lite.clients.connection_warnings import ConnectionWarnings
from kafka_lite.clients.in_flight_requests import InFlightRequest, InFlightRequests
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.metadata_updater import DefaultMetadataUpdater, MetadataUpdater
from kafka_lite.clients.node_api_versions import NodeApiVersions
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.selector import USE_DEFAULT_BUFFER_SIZE, Selector
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import decode_response, encode_request_parts
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.schema import Response
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError

logger = logging.getLogger(__name__)

NO_VERSION = -1
API_VERSIONS_LATEST = 3


class NetworkClientNotReadyError(RuntimeError):
    """A request to a broker that is not ready. ``ready`` must be called first."""


class NetworkClient:
    """The network side of producers and consumers. Owned by one thread; only ``wakeup`` may be called from others.

    ::

        ready(node) ─▶ CONNECTING ─▶ CHECKING_API_VERSIONS ─▶ READY
        send(request) ─▶ in flight ─▶ Selector ─▶ wire            poll() ─▶ responses, callbacks
                          one queue per broker: the next response belongs to the oldest request

    ``poll`` completes each request exactly once: by its response, by the loss of its connection (also when a request
    times out after ``request_timeout_ms``), or because the broker lacks the version.
    """

    def __init__(
        self,
        selector: Selector,
        metadata: Metadata | MetadataUpdater,
        client_id: str,
        *,
        max_in_flight_requests_per_connection: int = 5,
        reconnect_backoff_ms: float = 50,
        reconnect_backoff_max_ms: float = 1000,
        socket_send_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE,
        socket_receive_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE,
        request_timeout_ms: float = 30_000,
        connection_setup_timeout_ms: float = 10_000,
        discover_broker_versions: bool = True,
        authenticates: bool = False,
        api_versions: ApiVersions | None = None,
        time: Time = SYSTEM_TIME,
        random_source: random.Random | None = None,
    ) -> None:
        self._selector = selector
        self._client_id = client_id
        self._random = random_source or random.Random()
        self._in_flight = InFlightRequests(max_in_flight_requests_per_connection)
        self._states = ClusterConnectionStates(
            reconnect_backoff_ms, reconnect_backoff_max_ms, connection_setup_timeout_ms, self._random
        )
        self._buffer_sizes = (socket_send_buffer_bytes, socket_receive_buffer_bytes)
        self._request_timeout_ms = request_timeout_ms
        self._discover_broker_versions = discover_broker_versions
        self._authenticates = authenticates
        self._time = time
        self._correlation_id = 0
        self._api_versions = api_versions or ApiVersions()
        self._nodes: dict[str, Node] = {}
        """Each broker that was ever connected to, for the log."""
        self._warnings = ConnectionWarnings()
        self._nodes_needing_api_versions: dict[str, int] = {}
        """Connections whose API versions are to be requested, and the version of that request."""
        self._aborted_sends: list[ClientResponse] = []
        self._updater: MetadataUpdater
        if isinstance(metadata, Metadata):
            self._updater = DefaultMetadataUpdater(metadata, self, reconnect_backoff_ms)
        else:
            self._updater = metadata

    # ── Connections ───────────────────────────────────────────────────────────────────────────────────────────────

    def ready(self, node: Node, now_ms: float) -> bool:
        """Whether a request may be sent. If there is no connection, connect."""
        if self.is_ready(node, now_ms):
            return True
        if self._states.can_connect(node.id_string, now_ms):
            self.initiate_connect(node, now_ms)
        return False

    def is_ready(self, node: Node, now_ms: float) -> bool:
        """Whether a request may be sent: connected, not too many in flight, and no metadata update due first."""
        return not self._updater.is_update_due(now_ms) and self.can_send_request(node.id_string)

    def can_send_request(self, node: str) -> bool:
        """Whether the connection is ready and accepts one more request."""
        return (
            self._states.is_ready(node)
            and self._selector.is_channel_ready(node)
            and self._in_flight.can_send_more(node)
            and not (self._authenticates and self._must_authenticate_again(node))
        )

    def _must_authenticate_again(self, node: str) -> bool:
        channel = self._selector.channel(node)
        return channel is not None and channel.must_authenticate_again(self._time.hi_res_ms())

    def _authenticate_again(self, now_ms: float) -> None:
        """Renew the sessions that will end soon (KIP-368), of connections on which no response is awaited."""
        for channel in self._selector.channels():
            if channel.must_authenticate_again(now_ms) and not self._in_flight.count(channel.id):
                channel.reauthenticate()

    def can_connect(self, node: str, now_ms: float) -> bool:
        """Whether a connection attempt may start."""
        return self._states.can_connect(node, now_ms)

    def any_is_establishing(self) -> bool:
        """Whether any connection is being established."""
        return self._states.any_is_establishing()

    def connection_delay_ms(self, node: Node, now_ms: float) -> float:
        """The rest of the backoff of a disconnected broker, ms; infinity while it is connected or connecting."""
        return self._states.connection_delay_ms(node.id_string, now_ms)

    def connection_failed(self, node: Node) -> bool:
        """Whether there is no connection, and none being established."""
        return self._states.state(node.id_string) is ConnectionState.DISCONNECTED

    def initiate_connect(self, node: Node, now_ms: float) -> None:
        """Start to connect. An immediate failure counts as a lost connection."""
        logger.debug("Initiating connection to node %s", node)
        self._nodes[node.id_string] = node
        self._states.connecting(node.id_string, now_ms)
        try:
            self._selector.connect(node.id_string, node.host, node.port, *self._buffer_sizes)
        except OSError as error:
            self._states.disconnected(node.id_string, now_ms)
            self._updater.request_update()  # perhaps the broker has moved
            self._warnings.not_established(node, now_ms, error)

    def api_versions(self, node: str) -> NodeApiVersions | None:
        """The API versions of a broker; None while they are not known."""
        return self._api_versions.get(node)

    def least_loaded_node(self, now_ms: float) -> Node | None:
        """The broker with the fewest requests in flight; a connected and idle one at once. None if all are in backoff.

        The search starts at a random broker, so that not all clients choose the first.
        """
        nodes = self._updater.fetch_nodes()
        offset = self._random.randrange(len(nodes)) if nodes else 0
        found, fewest = None, math.inf
        for index in range(len(nodes)):
            node = nodes[(offset + index) % len(nodes)]
            in_flight = self._in_flight.count(node.id_string)
            if in_flight == 0 and self._states.is_ready(node.id_string):
                return node
            if in_flight < fewest and not self._states.is_blacked_out(node.id_string, now_ms):
                found, fewest = node, in_flight
        return found

    # ── Sending ───────────────────────────────────────────────────────────────────────────────────────────────────

    def new_client_request(
        self,
        destination: str,
        builder: RequestBuilder,
        created_time_ms: float,
        expect_response: bool = True,
        callback: RequestCompletionHandler | None = None,
        request_timeout_ms: float | None = None,
    ) -> ClientRequest:
        """A request with the next correlation id."""
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        return ClientRequest(
            destination, builder, self._correlation_id, self._client_id, created_time_ms, expect_response, callback,
            request_timeout_ms,
        )  # fmt: skip

    def send(self, request: ClientRequest, now_ms: float) -> None:
        """Queue a request for the next poll. Raises NetworkClientNotReadyError unless ``ready`` has allowed it."""
        if not self.can_send_request(request.destination):
            raise NetworkClientNotReadyError(f"attempt to send to node {request.destination}, which is not ready")
        self._do_send(request, is_internal=False, now_ms=now_ms)

    def send_internal(self, builder: RequestBuilder, destination: str, now_ms: float) -> None:
        """Send a request of the network client's own, without a callback."""
        self._do_send(self.new_client_request(destination, builder, now_ms), is_internal=True, now_ms=now_ms)

    def _do_send(self, request: ClientRequest, is_internal: bool, now_ms: float) -> None:
        builder, versions = request.builder, self._api_versions.get(request.destination)
        try:
            version = builder.latest_version if versions is None else versions.usable_version(builder)
            message = builder.build(version)
            parts = encode_request_parts(message, version, request.correlation_id, request.client_id)
        except UnsupportedVersionError as error:
            self._abort(request, is_internal, now_ms, error)
            return
        send = NetworkSend(request.destination, parts)
        self._in_flight.add(InFlightRequest(request, version, send, now_ms, is_internal))
        self._selector.send(send)

    def _abort(self, request: ClientRequest, is_internal: bool, now_ms: float, error: UnsupportedVersionError) -> None:
        """Fail a request that the broker's versions cannot express, with the next poll."""
        logger.debug("Version mismatch when attempting to send to node %s: %s", request.destination, error)
        if is_internal:
            self._updater.handle_disconnection(request.destination)
            return
        self._aborted_sends.append(
            ClientResponse(
                request.builder.api_key, NO_VERSION, request.correlation_id, request.destination,
                request.created_time_ms, now_ms, version_mismatch=error, callback=request.callback,
            )
        )  # fmt: skip

    def in_flight_request_count(self, node: str | None = None) -> int:
        """The number of requests in flight, to one broker or to all."""
        return self._in_flight.count(node)

    # ── Poll ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def poll(self, timeout_ms: float, now_ms: float) -> list[ClientResponse]:
        """Send and receive. Waits up to ``timeout_ms`` if there is nothing to do.

        Returns the completed requests, after their callbacks have run.
        """
        metadata_timeout_ms = self._updater.maybe_update(now_ms)
        own_timeout_ms = self._in_flight.next_timeout_ms(now_ms, self._request_timeout_ms)
        if self._aborted_sends:
            timeout_ms = 0
        if self._authenticates:
            self._authenticate_again(now_ms)
        self._selector.poll(min(timeout_ms, metadata_timeout_ms, own_timeout_ms, self._request_timeout_ms))
        now_ms = self._time.hi_res_ms()
        responses, self._aborted_sends = self._aborted_sends, []
        self._handle_completed_sends(responses, now_ms)
        self._handle_completed_receives(responses, now_ms)
        self._handle_disconnections(responses, now_ms)
        self._handle_connections()
        self._handle_initiate_api_version_requests(now_ms)
        self._handle_timed_out_connections(responses, now_ms)
        self._handle_timed_out_requests(responses, now_ms)
        for response in responses:
            self._complete(response)
        return responses

    @staticmethod
    def _complete(response: ClientResponse) -> None:
        try:
            response.on_complete()
        except Exception:
            logger.exception("Uncaught error in request completion")

    def _handle_completed_sends(self, responses: list[ClientResponse], now_ms: float) -> None:
        """Complete requests that expect no response once they are sent."""
        for node in (send.destination for send in self._selector.completed_sends):
            if self._in_flight.last_sent(node).request.expect_response:
                continue
            responses.append(self._in_flight.complete_last_sent(node).completed(None, now_ms))

    def _handle_completed_receives(self, responses: list[ClientResponse], now_ms: float) -> None:
        for receive in self._selector.completed_receives:
            if not self._in_flight.count(receive.source):
                logger.error("Closing connection to node %s: it sent a response without a request", receive.source)
                self.disconnect(receive.source, now_ms)
                continue
            in_flight = self._in_flight.complete_next(receive.source)
            try:
                response = self._parse(in_flight, receive.payload)
            except SchemaError as error:
                # Nothing that follows on this connection can be trusted.
                logger.error("Closing connection to node %s: %s", receive.source, error)
                self._selector.close(receive.source)
                self._end_disconnected(in_flight, responses, now_ms)
                self._process_disconnection(responses, receive.source, now_ms)
                continue
            if not in_flight.is_internal:
                responses.append(in_flight.completed(response, now_ms))
            elif isinstance(response, MetadataResponse):
                self._updater.handle_completed_metadata_response(response, in_flight.api_version, now_ms)
            else:
                self._handle_api_versions_response(cast(ApiVersionsResponse, response), in_flight, responses, now_ms)

    @staticmethod
    def _parse(in_flight: InFlightRequest, payload: memoryview) -> Response:
        request = in_flight.request
        correlation_id, response = decode_response(request.builder.api_key, in_flight.api_version, payload)
        if correlation_id != request.correlation_id:
            raise SchemaError(
                f"correlation id {correlation_id} is not that of the oldest request, {request.correlation_id}"
            )
        return response

    def _handle_api_versions_response(
        self, response: ApiVersionsResponse, in_flight: InFlightRequest, responses: list[ClientResponse], now_ms: float
    ) -> None:
        node = in_flight.request.destination
        if response.error_code == Errors.UNSUPPORTED_VERSION.code and in_flight.api_version > 0:
            newest = NodeApiVersions.of(response).latest(ApiKey.API_VERSIONS)
            self._nodes_needing_api_versions[node] = min(newest or 0, in_flight.api_version - 1)
        elif response.error_code:
            error = Errors.for_code(response.error_code)
            logger.warning("Node %s returned %s for an ApiVersions request. Disconnecting.", node, error.name)
            self._selector.close(node)
            self._process_disconnection(responses, node, now_ms)
        else:
            self._api_versions.update(node, NodeApiVersions.of(response))
            self._states.ready(node)
            self._warnings.responded(node)

    def _handle_disconnections(self, responses: list[ClientResponse], now_ms: float) -> None:
        for node, error in self._selector.failed_authentications.items():
            logger.error("Connection to node %s failed authentication due to: %s", node, error.reason)
            self._updater.authentication_failed(error)
        for node in self._selector.disconnected:
            logger.debug("Node %s disconnected", node)
            self._process_disconnection(responses, node, now_ms)
        if self._selector.disconnected:
            self._updater.request_update()  # its partitions may have new leaders

    def _handle_connections(self) -> None:
        for node in self._selector.connected:
            if self._discover_broker_versions:
                self._states.checking_api_versions(node)
                self._nodes_needing_api_versions[node] = API_VERSIONS_LATEST
            else:
                self._states.ready(node)

    def _handle_initiate_api_version_requests(self, now_ms: float) -> None:
        for node, version in list(self._nodes_needing_api_versions.items()):
            if self._selector.is_channel_ready(node) and self._in_flight.can_send_more(node):
                del self._nodes_needing_api_versions[node]
                request = ApiVersionsRequest(
                    client_software_name="kafka-lite", client_software_version=kafka_lite.__version__
                )
                self.send_internal(RequestBuilder.of(request, 0, version), node, now_ms)

    def _handle_timed_out_connections(self, responses: list[ClientResponse], now_ms: float) -> None:
        for node in self._states.with_setup_timeout(now_ms):
            logger.info("Disconnecting from node %s due to socket connection setup timeout", node)
            self._selector.close(node)
            self._process_disconnection(responses, node, now_ms)

    def _handle_timed_out_requests(self, responses: list[ClientResponse], now_ms: float) -> None:
        """Close the connections of timed-out requests: a late response could be taken for that of the next request."""
        nodes = self._in_flight.nodes_with_timed_out_requests(now_ms, self._request_timeout_ms)
        for node in nodes:
            logger.info("Disconnecting from node %s due to request timeout", node)
            self._selector.close(node)
            self._process_disconnection(responses, node, now_ms)
        if nodes:
            self._updater.request_update()

    def _process_disconnection(self, responses: list[ClientResponse], node: str, now_ms: float) -> None:
        state = self._states.state(node)
        if node in self._selector.failed_authentications:
            pass  # the error in the log says it
        elif state is ConnectionState.CONNECTING:
            self._warnings.not_established(self._nodes[node], now_ms)
        elif state is ConnectionState.CHECKING_API_VERSIONS:
            self._warnings.lost_too_early(self._nodes[node], now_ms)
        self._states.disconnected(node, now_ms)
        self._api_versions.remove(node)
        self._nodes_needing_api_versions.pop(node, None)
        for in_flight in self._in_flight.clear_all(node):
            self._end_disconnected(in_flight, responses, now_ms)

    def _end_disconnected(self, in_flight: InFlightRequest, responses: list[ClientResponse], now_ms: float) -> None:
        if not in_flight.is_internal:
            responses.append(in_flight.disconnected(now_ms))
        elif in_flight.request.builder.api_key is ApiKey.METADATA:
            self._updater.handle_disconnection(in_flight.request.destination)

    # ── waking up and closing ─────────────────────────────────────────────────────────────────────────────────────

    def wakeup(self) -> None:
        """Make the poll in progress, or the next one, return at once. Thread-safe, unlike the other methods."""
        self._selector.wakeup()

    def disconnect(self, node: str, now_ms: float) -> None:
        """Close the connection to one broker. The next poll completes its requests as disconnected."""
        self._selector.close(node)
        self._process_disconnection(self._aborted_sends, node, now_ms)

    def close(self) -> None:
        """Close all connections. Requests in flight are not completed."""
        self._selector.close()
