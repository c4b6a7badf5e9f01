"""What a network thread does: reads requests from its connections, and writes the answers to them.

Kafka 0.10.2: core/.../network/SocketServer.scala (Processor) · book 2.3.2
"""

from __future__ import annotations

import itertools
import logging
import socket
from collections import deque
from threading import get_ident
from typing import Final

from kafka_lite.common.time import Time
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.network.kafka_channel import KafkaChannel
from kafka_lite.network.listener import Listener
from kafka_lite.network.receive import NetworkReceive
from kafka_lite.network.request_channel import Request, RequestChannel, Response, ResponseAction
from kafka_lite.network.request_parser import InvalidRequestError, parse_request
from kafka_lite.network.selector import Selector
from kafka_lite.network.selector_counters import SelectorCounters
from kafka_lite.network.send import NetworkSend

logger = logging.getLogger(__name__)

POLL_TIMEOUT_MS: Final = 300.0
MAX_PIPELINED_REQUESTS: Final = 16
"""How many requests of one connection go to a handler at once: see ``Request.following``."""

# Python 3.11 computes a member of an Enum anew whenever it is asked for, which is a cost for every response.
_CLOSE_CONNECTION: Final = ResponseAction.CLOSE_CONNECTION
_THREAD_IDENT: Final = get_ident  # a constant: a name of a module is looked up in compiled code, too


class Processor:
    """Serves its share of a listener's connections with one selector, in a thread of its own (``KafkaThread``).

    Each turn of the loop has the steps that the book's figure shows::

        configure_new_connections    sockets from the acceptor   ─▶ selector.register
        process_new_responses        response queue              ─▶ selector.write
        poll                         the network
        process_completed_receives   a frame ─▶ Request ─▶ request queue, and the connection is muted
        process_completed_sends      the answer is out           ─▶ the connection is unmuted
        process_disconnected         quotas, unfinished answers

    *Muted* means that there is at most one request of a connection at work: requests are handled, and answered, in the
    order in which they came. A client that pipelines has sent the next requests already; those go along with the first
    one as a chain, of which one at a time is at work. So a chain costs one passage from thread to thread, where its
    requests would cost one each, and such a passage is what a small request costs most of all.
    """

    def __init__(
        self,
        processor_id: int,
        name: str,
        listener: Listener,
        time: Time,
        max_request_size: int,
        connections_max_idle_ms: float,
        request_channel: RequestChannel,
        connection_quotas: ConnectionQuotas,
    ) -> None:
        self.id = processor_id
        self.name = name
        """The name of its thread."""
        self._thread_ident = 0  # of the thread that had the last turn
        self._listener_name = listener.name
        self._security_protocol = listener.security_protocol
        self._time = time
        self._request_channel = request_channel
        self._quotas = connection_quotas
        self._new_connections: deque[tuple[socket.socket, str, int]] = deque()
        self._connection_numbers = itertools.count()
        # Of every connection from the moment it is registered until _connection_ended:
        self._client_addresses: dict[str, str] = {}
        self._inflight_responses: dict[str, deque[Response]] = {}
        self._selector = Selector(max_request_size, connections_max_idle_ms, time)

    def accept(self, sock: socket.socket, host: str, port: int) -> None:
        """Take over a connection; called by the acceptor, which has counted it."""
        self._new_connections.append((sock, host, port))
        self.wake_up()

    def wake_up(self) -> None:
        """End the poll in progress: there is a connection or a response, or it is time to stop.

        This thread itself is awake, and looks at all of that before its next poll.
        """
        if _THREAD_IDENT() != self._thread_ident:
            self._selector.wakeup()

    @property
    def counters(self) -> SelectorCounters:
        """What the selector has counted."""
        return self._selector.counters

    @property
    def connection_count(self) -> int:
        """Open connections of this processor."""
        return len(self._client_addresses)

    def disconnect_all(self) -> None:
        """End every connection as if the network had lost it; any thread may call this."""
        for channel in self._selector.channels():
            channel.disconnect()

    def do_work(self) -> None:
        """One turn; an error costs a log line, never the thread, for all its connections would go with it."""
        self._thread_ident = _THREAD_IDENT()
        try:
            self._configure_new_connections()
            self._process_new_responses()
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
                # The number keeps the id unique when a client comes back from the port of a connection not yet closed.
                number = next(self._connection_numbers)
                connection_id = f"{local_host}:{local_port}-{host}:{port}-{number}"
                self._selector.register(connection_id, sock, f"{host}:{port}")
                self._client_addresses[connection_id] = host
                self._inflight_responses[connection_id] = deque()
            except OSError as error:
                logger.debug("Processor %d closed connection from %s:%d: %s", self.id, host, port, error)
                sock.close()
                self._quotas.dec(host)

    def _process_new_responses(self) -> None:
        while responses := self._request_channel.receive_responses(self.id):
            to_answer: list[str] = []
            for response in responses:
                connection_id = response.request.connection_id
                inflight = self._inflight_responses.get(connection_id)
                if inflight is None:
                    # The connection was lost, or closed for being idle, while the request was at work.
                    self._request_channel.request_completed(response.request)
                    continue
                if not inflight:
                    to_answer.append(connection_id)
                # Else one is on its way out, or is out since the last poll: _process_completed_sends goes on.
                inflight.append(response)
            for connection_id in to_answer:
                self._answer(connection_id)

    def _answer(self, connection_id: str) -> None:
        """Do what the oldest responses of a connection ask for; an error of ours costs this connection only."""
        try:
            self._answer_in_order(connection_id)
        except Exception:
            logger.exception("Closing connection %s: it cannot be answered", connection_id)
            self._close(connection_id)

    def _answer_in_order(self, connection_id: str) -> None:
        """Until one does not fit into the socket."""
        if self._selector.channel(connection_id) is None:
            return  # lost in the last poll: _process_disconnected ends its responses
        responses = self._inflight_responses[connection_id]
        while responses:
            response = responses[0]
            send = response.send
            if send is not None:
                if len(responses) > 1:
                    _join_following(send, responses)
                if not self._selector.write(send):
                    return  # _process_completed_sends goes on
                self._end_responses(responses, send.frames)
            elif response.action is _CLOSE_CONNECTION:
                self._close(connection_id)
                return
            else:
                self._end_responses(responses, 1)

    def _end_responses(self, responses: deque[Response], count: int) -> None:
        """Requests are done with: what comes next on this connection?"""
        for _ in range(count):
            request = responses.popleft().request
            self._request_channel.request_completed(request)
            if request.following is None:
                self._selector.unmute(request.connection_id)
            elif (following := request.take_following()) is not None:
                self._request_channel.dispatch(following)

    def _process_completed_receives(self) -> None:
        for receive in self._selector.completed_receives:
            try:
                self._dispatch(receive)
            except InvalidRequestError as error:
                logger.warning("Closing connection %s: %s", receive.source, error)
                self._close(receive.source)
            except Exception:  # an error of ours, which may cost this connection and not those behind it in this turn
                logger.exception("Closing connection %s: its request cannot be read or handled", receive.source)
                self._close(receive.source)
            self._process_new_responses()

    def _dispatch(self, receive: NetworkReceive) -> None:
        request = self._request_of(receive)
        channel = self._selector.channel(receive.source)
        if channel is not None:
            channel.mute()  # before the request is queued: the answer may come at once
            if channel.staged:
                self._append_pipelined(request, channel)
        self._request_channel.dispatch(request)

    def _append_pipelined(self, request: Request, channel: KafkaChannel) -> None:
        """Chain the requests that came with this one. One that cannot be read waits until it is the first."""
        for _ in range(min(len(channel.staged), MAX_PIPELINED_REQUESTS - 1)):
            try:
                following = self._request_of(channel.staged[0])
            except Exception:
                logger.debug("A pipelined request of %s cannot be read, see there", channel.id, exc_info=True)
                return
            self._selector.take_staged(channel)
            request.follow_with(following)
            request = following

    def _request_of(self, receive: NetworkReceive) -> Request:
        header, body, unsupported_api_version = parse_request(receive.payload)
        return Request(
            processor=self.id,
            connection_id=receive.source,
            listener_name=self._listener_name,
            security_protocol=self._security_protocol,
            client_address=self._client_addresses[receive.source],
            header=header,
            body=body,
            size_in_bytes=receive.size,
            start_time_ms=self._time.hi_res_ms(),
            unsupported_api_version=unsupported_api_version,
        )

    def _process_completed_sends(self) -> None:
        for send in self._selector.completed_sends:
            # The connection is gone already when the peer went away in the very same poll.
            if self._selector.channel(send.destination) is not None:
                self._go_on_after(send)

    def _go_on_after(self, send: NetworkSend) -> None:
        try:
            self._end_responses(self._inflight_responses[send.destination], send.frames)
        except Exception:
            logger.exception("Closing connection %s: its next request cannot be handled", send.destination)
            self._close(send.destination)
        else:
            self._answer(send.destination)

    def _process_disconnected(self) -> None:
        for connection_id in self._selector.disconnected:
            self._connection_ended(connection_id)

    def _close(self, connection_id: str) -> None:
        """Close a connection on our own account; the selector does not report those."""
        if self._selector.channel(connection_id) is not None:
            self._selector.close(connection_id)
            self._connection_ended(connection_id)

    def _connection_ended(self, connection_id: str) -> None:
        self._quotas.dec(self._client_addresses.pop(connection_id))
        for response in self._inflight_responses.pop(connection_id, ()):
            self._request_channel.request_completed(response.request)

    def close_all(self) -> None:
        """Close every connection and the selector. The thread must have ended, or never have started."""
        while self._new_connections:
            sock, host, _ = self._new_connections.popleft()
            sock.close()
            self._quotas.dec(host)
        for connection_id in list(self._client_addresses):
            self._close(connection_id)
        self._selector.close()


def _join_following(send: NetworkSend, responses: deque[Response]) -> None:
    """Append to the first answer those behind it that can leave in the same system call."""
    for response in itertools.islice(responses, 1, None):
        if response.send is None:
            break
        send.append(response.send)
