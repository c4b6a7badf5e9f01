"""Recorded runs of the network layer: what a processor does in its turns, pipelined requests, a full request queue.

The whole way of a request, down to the files and back, is recorded in ``runs``.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from kafka_learn.recording.broker_watches import watch_phases, watch_wire
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.recorder import Recording, Watch
from kafka_learn.recording.run_brokers import (
    AS_IN_KAFKA,
    PRODUCE_VERSION,
    connect,
    in_thread,
    open_connections,
    produce,
    produce_of,
    running_broker,
    send_record,
    wait_until,
)
from kafka_learn.recording.watches import watch, watch_queue
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.network.kafka_channel import KafkaChannel
from kafka_lite.network.processor import Processor
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.selector import Selector
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.server.apis.api_handler import Handler, Respond
from kafka_lite.server.kafka_apis import KafkaApis

PIPELINED = 3
TURN_LANES = ("producer", "Acceptor", "Processor", "Selector", "KafkaChannel", "RequestChannel", "KafkaRequestHandler")
QUEUE_LANES = (
    *(f"producer {number}" for number in range(1, 5)),
    "Processor",
    "RequestChannel",
    "KafkaRequestHandler",
)
UNREAD_MS = 20
"""How long a request lies in the kernel before the handler continues: long enough to be seen."""
PIPELINE_LANES = ("producer", "Processor", "KafkaChannel", "RequestChannel", "KafkaRequestHandler", "KafkaApis")


def network_watches() -> list[Watch]:
    """From the socket to the request handler and back: book 2.3."""
    return [
        *watch_wire(),
        *watch_phases(),
        *watch_queue("new connection", Processor.accept, Selector.register, take_item="sock"),
        *watch_queue("request queue", RequestChannel.send_request, RequestChannel.receive_request),
        *watch_queue("response queue", RequestChannel.send_response, RequestChannel.receive_responses),
        *watch(KafkaApis.handle),
    ]


def turn_watches() -> list[Watch]:
    """A processor's calls of its selector, and the muting of its channels: book 2.3.2."""
    return [
        *watch(Processor._configure_new_connections, Processor._process_completed_receives, show=()),
        *watch(Selector.register, Selector.write, KafkaChannel.mute, KafkaChannel.unmute, show=()),
    ]


def turns_of_a_processor() -> RecordedRun:
    """A producer connects and sends one request: what each turn of the processor does with it."""
    watches = (network_watches(), turn_watches())
    with (
        Recording(*watches, title="The turns of a processor", paused=True) as recording,
        running_broker({**AS_IN_KAFKA, "num.network.threads": "1"}) as server,
        recording.running(),
    ):
        in_thread("producer", lambda: produce(server, b"hello"))
        recording.wait_for("RequestChannel.PRODUCE v9")
        recording.pause()
    return recording.run.recorded_in(__name__, "turns_of_a_processor", lanes=TURN_LANES, hide=("KafkaApis.handle",))


def pipelined_requests() -> RecordedRun:
    """A producer sends three requests in one piece, and only then waits: they travel as a chain."""
    watches = (network_watches(), watch(KafkaChannel.mute, KafkaChannel.unmute, show=()))
    with (
        Recording(*watches, title="Three pipelined requests", paused=True) as recording,
        running_broker(AS_IN_KAFKA) as server,
        connect(server) as channel,
    ):
        wait_until(lambda: open_connections(server) == 1)

        def pipeline() -> None:
            with _in_one_piece(channel):
                for _ in range(PIPELINED):
                    channel.send(produce_of(b"hello"), PRODUCE_VERSION)
            for _ in range(PIPELINED):
                channel.receive()

        with recording.running():
            in_thread("producer", pipeline)
            recording.wait_for("KafkaChannel.unmute")
    return recording.run.recorded_in(__name__, "pipelined_requests", lanes=PIPELINE_LANES)


@contextmanager
def _in_one_piece(channel: BlockingChannel) -> Iterator[None]:
    """Let the kernel hold back sent data until the end, if it can (Linux)."""
    cork, sock = getattr(socket, "TCP_CORK", None), channel._sock
    if cork is None or sock is None:
        yield
        return
    sock.setsockopt(socket.IPPROTO_TCP, cork, 1)
    yield
    sock.setsockopt(socket.IPPROTO_TCP, cork, 0)


class HeldUpHandlers:
    """Produce requests wait before their handler during ``hold``, as for a disk that hangs."""

    def __init__(self) -> None:
        self.waiting = 0
        """How many are held up now."""
        self._go_on = threading.Event()
        self._go_on.set()

    def wrap(self, api_key: ApiKey, handler: Handler) -> Handler:
        """For ``KafkaServer(wrap_handler=…)``."""

        def handle(request: Request, body: Any, respond: Respond) -> None:
            self.waiting += 1
            self._go_on.wait()
            self.waiting -= 1
            handler(request, body, respond)

        return handle if api_key is ApiKey.PRODUCE else handler

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the requests, and release all of them at the end."""
        self._go_on.clear()
        try:
            yield
        finally:
            self._go_on.set()


def full_request_queue() -> RecordedRun:
    """One request handler, held up, and room for one request: the third request blocks the only network thread."""
    overrides = {**AS_IN_KAFKA, "num.network.threads": "1", "num.io.threads": "1", "queued.max.requests": "1"}
    held = HeldUpHandlers()
    watches = (network_watches(), watch(RequestChannel._wait_for_room, show=()))
    with (
        Recording(*watches, title="The request queue is full", paused=True) as recording,
        running_broker(overrides, held.wrap) as server,
        ExitStack() as connections,
    ):
        clients = [connections.enter_context(connect(server)) for _ in range(4)]
        wait_until(lambda: open_connections(server) == len(clients))
        requests = server.socket_server.request_channel
        stages = (
            lambda: held.waiting == 1,
            lambda: requests.request_queue_size == 1,
            lambda: requests._waiting_processors == 1,
            lambda: True,  # nobody reads it
        )
        with recording.running():
            with held.hold():
                producers = [_producer(client, number) for number, client in enumerate(clients, 1)]
                for producer, reached in zip(producers, stages, strict=True):
                    producer.start()
                    wait_until(reached)
                SYSTEM_TIME.sleep(UNREAD_MS)
            for producer in producers:
                producer.join()
            recording.wait_for("RequestChannel.PRODUCE v9", len(clients))
    return recording.run.recorded_in(__name__, "full_request_queue", lanes=QUEUE_LANES)


def _producer(client: BlockingChannel, number: int) -> threading.Thread:
    """A thread that is to send one record."""
    return threading.Thread(target=send_record, args=(client, b"hello"), name=f"producer {number}")


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "turns-of-a-processor": turns_of_a_processor,
    "pipelined-requests": pipelined_requests,
    "full-request-queue": full_request_queue,
}
