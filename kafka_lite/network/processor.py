"""A network thread: it reads requests from its connections and writes the responses to them.

Kafka 0.10.2: core/.../network/SocketServer.scala (Processor) · book 2.3.2
"""

from __future__ import annotations

import itertools
import logging
import socket
from collections import deque
from collections.abc import Callable
from threading import get_ident
from typing import Final

from kafka_lite.common.time import Time
from kafka_lite.network.channel_builder import ChannelBuilder
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.network.kafka_channel import KafkaChannel
from kafka_lite.network.metrics.selector_counters import SelectorCounters
from kafka_lite.network.pipeline import MAX_PIPELINED_REQUESTS, Pipeline
from kafka_lite.network.receive import NetworkReceive
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, ResponseAction
from kafka_lite.network.request_parser import (
    MAX_DECODED_BYTES,
    UNDECODED,
    InvalidRequestError,
    LaterApiError,
    parse_large_request,
    parse_request,
)
from kafka_lite.network.selector import Selector
from kafka_lite.network.send import NetworkSend
from kafka_lite.network.unserved_requests import UnservedRequests, describe_api
from kafka_lite.protocol.api_key import LATER_APIS, ApiKey
from kafka_lite.protocol.messages.headers import RequestHeader

logger = logging.getLogger(__name__)

POLL_TIMEOUT_MS: Final = 300.0

# Python 3.11 looks up a member of an Enum on every access: a cost on every response.
_CLOSE_CONNECTION: Final = ResponseAction.CLOSE_CONNECTION
_START_THROTTLING: Final = ResponseAction.START_THROTTLING
_END_THROTTLING: Final = ResponseAction.END_THROTTLING
_THREAD_IDENT: Final = get_ident  # a constant: even compiled code looks a module's name up on every access


class Processor:
    """Serves its share of a listener's connections with one selector, in a thread of its own (``KafkaThread``).

    Each turn of the loop has the steps of the book's figure::

        configure_new_connections    sockets from the acceptor   ─▶ selector.register
        process_new_responses        response queue              ─▶ selector.write
        poll                         the network
        process_completed_receives   a frame ─▶ Request ─▶ request queue, and the connection is muted
        process_completed_sends      the response is out         ─▶ the connection is unmuted
        process_disconnected         quotas, responses that were not sent

    A connection is *muted* while one of its requests is handled, so that its requests are handled, and their responses
    sent, in the order in which they came. A client that pipelines has already sent the next requests; these go to the
    handler together with the first one, as a chain (``Pipeline``). Because of the GIL a hand-over from thread to thread
    is the largest cost of a small request, and a chain pays for it only once.

    Of a large request only the header is decoded here, and a request handler decodes the rest (``LargeRequests``).

    A client may leave while its request is handled. The request learns of it, so that what only reads is dropped
    (``is_pointless``), and a fetch does not wait for its time to be up.

    A quota that is exceeded keeps the connection muted for a while after the response (KIP-219). The beginning and the
    end of the delay come through the response queue, too, so that the delay holds for what follows the response.

    A request that is handled in this thread may complete delayed requests of other connections: an append completes the
    followers' fetches, a follower's fetch completes the producer's request. Their responses are written at once, so
    that these peers can continue while the rest of the request is handled.
    """

    def __init__(
        self,
        processor_id: int,
        name: str,
        listener_name: str,
        security_protocol: str,
        time: Time,
        max_request_size: int,
        connections_max_idle_ms: float,
        request_channel: RequestChannel,
        connection_quotas: ConnectionQuotas,
        unserved_requests: UnservedRequests,
        channel_builder: ChannelBuilder | None = None,
        failed_authentication_delay_ms: int = 0,
    ) -> None:
        self.id = processor_id
        self.name = name
        """The name of its thread."""
        self._thread_ident = 0  # of the thread that ran the last turn
        self._listener_name = listener_name
        self._security_protocol = security_protocol
        self._time = time
        self._request_channel = request_channel
        self._new_responses = request_channel.response_queue(processor_id)
        self._quotas = connection_quotas
        self._unserved = unserved_requests
        self._new_connections: deque[tuple[socket.socket, str, int]] = deque()
        self._connection_numbers = itertools.count()
        # By connection id, from the moment a connection is registered until _connection_ended:
        self._pipelines: dict[str, Pipeline] = {}
        self._to_send: list[Pipeline] = []  # those whose first response is new
        self._dispatched: Request | None = None  # while its dispatch lasts
        self._with_memory: deque[KafkaChannel] = deque()  # those whose large request may be read on
        self._selector = Selector(
            max_request_size,
            connections_max_idle_ms,
            time,
            channel_builder=channel_builder,
            failed_authentication_delay_ms=failed_authentication_delay_ms,
        )

    def accept(self, sock: socket.socket, host: str, port: int) -> None:
        """Take over a connection. The acceptor, which calls this, has counted it already."""
        self._new_connections.append((sock, host, port))
        self.wake_up()

    def wake_up(self) -> None:
        """End the poll in progress: there is a connection or a response, or it is time to stop.

        The processor's own thread needs no wake-up: it looks for all of these before its next poll. If it is handling a
        request that has no response yet, the response is for another connection.
        """
        if _THREAD_IDENT() != self._thread_ident:
            self._selector.wakeup()
        elif self._dispatched is not None and self._dispatched.response_complete_time_ms < 0:
            self._write_responses_to_others()

    @property
    def counters(self) -> SelectorCounters:
        """The selector's counters."""
        return self._selector.counters

    @property
    def connection_count(self) -> int:
        """Open connections of this processor."""
        return len(self._pipelines)

    def disconnect_all(self) -> None:
        """End every connection as if the network had lost it; any thread may call this."""
        for channel in self._selector.channels():
            channel.disconnect()

    def do_work(self) -> None:
        """One turn. An error is logged; it must not end the thread, which would lose all of its connections."""
        self._thread_ident = _THREAD_IDENT()
        try:
            self._configure_new_connections()
            self._process_new_responses()
            if self._with_memory:
                self._read_with_memory()
            self._selector.poll(POLL_TIMEOUT_MS)
            self._process_completed_receives()
            self._process_completed_sends()
            self._process_disconnected()
        except Exception:
            logger.exception("Processor %d got an uncaught exception", self.id)

    def _configure_new_connections(self) -> None:
        while self._new_connections:
            sock, host, port = self._new_connections.popleft()
            try:
                local_host, local_port = sock.getsockname()[:2]
                # The number keeps the id unique if a client reuses the port of a connection that is not closed yet.
                number = next(self._connection_numbers)
                connection_id = f"{local_host}:{local_port}-{host}:{port}-{number}"
                channel = self._selector.register(connection_id, sock, f"{host}:{port}")
                channel.memory_pool, channel.on_memory = self._request_channel.memory_pool, self._memory_available
                self._pipelines[connection_id] = pipeline = Pipeline(connection_id, host)
                channel.on_end = pipeline.client_has_left
            except OSError as error:
                logger.debug("Processor %d closed connection from %s:%d: %s", self.id, host, port, error)
                sock.close()
                self._quotas.dec(host)

    def _memory_available(self, channel: KafkaChannel) -> None:
        """Any thread may call this: the pool has memory for a request that waits for it in the middle of its frame."""
        self._with_memory.append(channel)
        self._selector.wakeup()

    def _read_with_memory(self) -> None:
        while self._with_memory:
            channel = self._with_memory.popleft()
            if self._selector.channel(channel.id) is channel:  # it is still open
                channel.is_out_of_memory = False
                self._selector.unmute(channel.id)

    def _process_new_responses(self) -> None:
        self._take_responses()
        while self._to_send:
            to_send, self._to_send = self._to_send, []
            for pipeline in to_send:
                self._send_responses(pipeline)
            self._take_responses()

    def _take_responses(self) -> None:
        """Queue each response after the unsent responses of its connection."""
        if not self._new_responses:
            return
        for response in self._request_channel.receive_responses(self.id):
            pipeline = self._pipelines.get(response.request.connection_id)
            if pipeline is None:
                # The connection was lost, or closed as idle, while the request was being handled.
                if response.ends_request:
                    self._request_channel.request_completed(response.request)
                continue
            if not pipeline.responses:
                self._to_send.append(pipeline)
            # Otherwise an earlier response is in progress, or out since the last poll: see _process_completed_sends.
            pipeline.responses.append(response)

    def _write_responses_to_others(self) -> None:
        """Write new responses while a request is being handled.

        ``_process_new_responses`` completes their requests later: the handler may hold locks that the next requests of
        these connections need.
        """
        before = len(self._to_send)
        self._take_responses()
        new = self._to_send[before:]
        # One that is only partly out is left to _process_completed_sends.
        self._to_send[before:] = [pipeline for pipeline in new if self._write_first_response(pipeline)]

    def _write_first_response(self, pipeline: Pipeline) -> bool:
        """False if the response did not fit into the socket. One that is not sent is left to ``_send_responses``."""
        send = pipeline.responses[0].send
        if send is None or self._selector.channel(pipeline.connection_id) is None:
            return True
        return self._selector.write(send)

    def _send_responses(self, pipeline: Pipeline) -> None:
        """Do what the oldest responses of a connection ask for; an error of ours closes only this connection."""
        try:
            self._send_responses_in_order(pipeline)
        except Exception:
            logger.exception("Closing connection %s: its response cannot be sent", pipeline.connection_id)
            self._close(pipeline.connection_id)

    def _send_responses_in_order(self, pipeline: Pipeline) -> None:
        """Write responses until one does not fit into the socket."""
        if self._selector.channel(pipeline.connection_id) is None:
            return  # lost in the last poll: _process_disconnected completes its requests
        responses = pipeline.responses
        while responses:
            response = responses[0]
            send = response.send
            if send is not None:
                if not send.completed:  # it is if _write_responses_to_others wrote it
                    if len(responses) > 1:
                        pipeline.join_waiting(send)
                    if not self._selector.write(send):
                        return  # _process_completed_sends continues
                self._complete(pipeline, send.frames)
            elif response.action is _CLOSE_CONNECTION:
                self._close(pipeline.connection_id)
                return
            elif response.action is _START_THROTTLING:
                responses.popleft()
                pipeline.is_throttled = True
            elif response.action is _END_THROTTLING:
                responses.popleft()
                self._end_throttling(pipeline)
            else:
                self._complete(pipeline, 1)

    def _complete(self, pipeline: Pipeline, count: int) -> None:
        """The first ``count`` requests are done; begin with the next one of the connection, or read on."""
        for _ in range(count):
            request = pipeline.responses.popleft().request
            pipeline.in_progress = request.following
            self._request_channel.request_completed(request)
            if request.record_network_thread_time is not None:
                self._record_network_thread_time(pipeline.connection_id, request.record_network_thread_time)
            if pipeline.is_throttled:
                pipeline.throttled_after = request  # see _end_throttling
            elif request.following is None:
                self._selector.unmute(pipeline.connection_id)
            elif (following := request.take_following()) is not None:
                self._request_channel.dispatch(following)

    def _end_throttling(self, pipeline: Pipeline) -> None:
        """Do what ``_complete`` has left; if the response is not out yet, ``_complete`` does it itself."""
        pipeline.is_throttled = False
        request, pipeline.throttled_after = pipeline.throttled_after, None
        if request is None:
            return
        if request.following is None:
            self._selector.unmute(pipeline.connection_id)
        elif (following := request.take_following()) is not None:
            self._request_channel.dispatch(following)

    def _record_network_thread_time(self, connection_id: str, record: Callable[[float], None]) -> None:
        """Hand over the time that this thread has spent on a connection since the last call.

        The selector measures it only if there are quotas: from the first request on that asks for it.
        """
        self._selector.records_network_thread_time = True
        channel = self._selector.channel(connection_id)
        if channel is not None:
            time_ms, channel.network_thread_time_ms = channel.network_thread_time_ms, 0.0
            record(time_ms)

    def _process_completed_receives(self) -> None:
        for receive in self._selector.completed_receives:
            try:
                self._dispatch(receive)
            except LaterApiError as later:  # (a name of its own: compiled, a name has one native type)
                self._report_unserved(receive.source, later.header)
                self._close(receive.source)
            except InvalidRequestError as error:
                logger.warning("Closing connection %s: %s", receive.source, error)
                self._close(receive.source)
            except Exception:  # an error of ours: it must not harm the connections after this one in the same turn
                logger.exception("Closing connection %s: its request cannot be read or handled", receive.source)
                self._close(receive.source)
            self._process_new_responses()

    def _report_unserved(self, connection_id: str, header: RequestHeader) -> None:
        api = describe_api(header.api_key, LATER_APIS[header.api_key])
        address = self._pipelines[connection_id].client_address
        self._unserved.report(header.client_id, address, api, f"closing connection {connection_id}")

    def _dispatch(self, receive: NetworkReceive) -> None:
        request = self._request_of(receive)
        channel = self._selector.channel(receive.source)
        if channel is not None:
            if channel.authenticator is not None and self._ends_session(channel, request, receive):
                return
            request.principal = channel.principal
            channel.mute()  # before the request is queued: the response may come at once
            self._pipelines[channel.id].in_progress = request
            if request.frame is not None:
                self._request_channel.send_large_request(request)
                return
            if channel.staged:
                self._chain_pipelined(request, channel)
        self._dispatched = request
        try:
            self._request_channel.dispatch(request)
        finally:
            self._dispatched = None

    def _ends_session(self, channel: KafkaChannel, request: Request, receive: NetworkReceive) -> bool:
        """Whether the client authenticates again, or should have done so before this request."""
        authenticator, now_ms = channel.authenticator, request.start_time_ms
        assert authenticator is not None
        if request.header.api_key == ApiKey.SASL_HANDSHAKE and authenticator.may_begin_again(now_ms):
            channel.reauthenticate(receive.payload)
            return True
        if authenticator.session_expired(now_ms):
            logger.info("Disconnecting expired channel %s of %s", channel.id, authenticator.principal)
            self._close(channel.id)
            return True
        return False

    def _chain_pipelined(self, request: Request, channel: KafkaChannel) -> None:
        """Chain the requests that arrived after this one. An unreadable or large one waits until it is the first."""
        for _ in range(min(len(channel.staged), MAX_PIPELINED_REQUESTS - 1)):
            if channel.staged[0].size > MAX_DECODED_BYTES:
                return
            try:
                following = self._request_of(channel.staged[0])
            except Exception:
                logger.debug("A pipelined request of %s cannot be read", channel.id, exc_info=True)
                return
            self._selector.take_staged(channel)
            following.principal = request.principal
            request.follow_with(following)
            request = following

    def _request_of(self, receive: NetworkReceive) -> Request:
        frame = receive.payload
        if receive.size <= MAX_DECODED_BYTES:
            header, body, unsupported_api_version = parse_request(frame)
        else:
            header, body, unsupported_api_version = parse_large_request(frame)
        request = Request(
            processor=self.id,
            connection_id=receive.source,
            listener_name=self._listener_name,
            security_protocol=self._security_protocol,
            client_address=self._pipelines[receive.source].client_address,
            header=header,
            body=body,
            size_in_bytes=receive.size,
            start_time_ms=self._time.hi_res_ms(),
            unsupported_api_version=unsupported_api_version,
        )
        request.client_information = self._pipelines[receive.source].client_information
        if body is UNDECODED:
            request.frame, request.lease = frame, receive.lease
        elif receive.lease is not None and header.api_key == ApiKey.PRODUCE:
            request.lease = receive.lease
        return request

    def _process_completed_sends(self) -> None:
        for send in self._selector.completed_sends:
            # The connection is already closed if the peer left in the same poll.
            if self._selector.channel(send.destination) is not None:
                self._go_on_after(send, self._pipelines[send.destination])

    def _go_on_after(self, send: NetworkSend, pipeline: Pipeline) -> None:
        try:
            self._complete(pipeline, send.frames)
        except Exception:
            logger.exception("Closing connection %s: its next request cannot be handled", send.destination)
            self._close(send.destination)
        else:
            self._send_responses(pipeline)

    def _process_disconnected(self) -> None:
        for connection_id in self._selector.disconnected:
            self._connection_ended(connection_id)

    def _close(self, connection_id: str) -> None:
        """Close a connection from this side; the selector does not report it as disconnected."""
        if self._selector.channel(connection_id) is not None:
            self._selector.close(connection_id)
            self._connection_ended(connection_id)

    def _connection_ended(self, connection_id: str) -> None:
        pipeline = self._pipelines.pop(connection_id)
        self._quotas.dec(pipeline.client_address)
        pipeline.client_has_left()
        if self._request_channel.on_connection_ended is not None:
            self._request_channel.on_connection_ended(connection_id)
        for response in pipeline.responses:
            if response.ends_request:
                self._request_channel.request_completed(response.request)

    def close_all(self) -> None:
        """Close every connection and the selector. The thread must have ended, or never have started."""
        while self._new_connections:
            sock, host, _ = self._new_connections.popleft()
            sock.close()
            self._quotas.dec(host)
        for connection_id in list(self._pipelines):
            self._close(connection_id)
        self._selector.close()
