"""The broker's network layer: acceptors, processors and the request channel between them and the handlers.

Kafka 0.10.2: core/.../network/SocketServer.scala · book 2.3.1
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.kafka_thread import KafkaThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.network.acceptor import Acceptor, Listener
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.network.connection_rate_quotas import ConnectionRateConfig, ConnectionRateQuotas
from kafka_lite.network.memory_pool import UNLIMITED, MemoryPool
from kafka_lite.network.processor import Processor
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.selector import USE_DEFAULT_BUFFER_SIZE
from kafka_lite.network.unserved_requests import UnservedRequests

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SocketServerConfig:
    """The network layer's part of the broker's configuration, with its names."""

    listeners: tuple[Listener, ...] = (Listener(),)
    broker_id: int = 0
    num_network_threads: int = 1
    """Processors per listener."""
    queued_max_requests: int = 500
    queued_max_request_bytes: int = UNLIMITED
    socket_send_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE
    socket_receive_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE
    socket_request_max_bytes: int = 100 * 1024 * 1024
    max_connections_per_ip: int = 2**31 - 1
    max_connections_per_ip_overrides: Mapping[str, int] = field(default_factory=dict)
    connections_max_idle_ms: int = 10 * 60 * 1000
    failed_authentication_delay_ms: int = 0
    """``connection.failed.authentication.delay.ms``."""
    connection_rates: ConnectionRateConfig = field(default_factory=ConnectionRateConfig)


class SocketServer:
    """The threads that turn bytes into requests and responses into bytes.

    ::

        clients ──▶ Acceptor (one per listener)
                       │ sockets, in turn
                       ▼
                    Processor × num.network.threads ──▶ request queue ──▶ KafkaRequestHandler × num.io.threads
                       ▲                                                        │
                       └────────────── response queue of the processor ◀────────┘
    """

    def __init__(
        self,
        config: SocketServerConfig,
        time: Time = SYSTEM_TIME,
        request_channel: RequestChannel | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        """``metrics`` show the rates of new connections."""
        self._config = config
        self._time = time
        total_processors = config.num_network_threads * len(config.listeners)
        self.request_channel = request_channel or RequestChannel(total_processors, config.queued_max_requests, time)
        self.request_channel.memory_pool = MemoryPool(config.queued_max_request_bytes)
        self.connection_quotas = ConnectionQuotas(
            config.max_connections_per_ip, config.max_connections_per_ip_overrides
        )
        self.connection_rates = ConnectionRateQuotas(config.connection_rates, metrics or Metrics(time=time), time)
        self.unserved_requests = UnservedRequests()
        self.processors: list[Processor] = []
        self._processor_threads: list[KafkaThread] = []
        self._acceptors: dict[str, Acceptor] = {}

    def startup(self) -> None:
        """Bind all listeners, then start all threads. Raises KafkaError, and closes all, if one cannot be bound."""
        try:
            for listener in self._config.listeners:
                self._open(listener)
        except BaseException:
            self.shutdown()
            raise
        self.request_channel.add_response_listener(self._wake_up_processor)
        for thread in (*self._processor_threads, *self._acceptors.values()):
            thread.start()
        for name, acceptor in self._acceptors.items():
            logger.info("Awaiting socket connections on port %d (listener %s)", acceptor.port, name)

    def _open(self, listener: Listener) -> None:
        if listener.name in self._acceptors:
            raise KafkaError(f"Each listener must have a different name, but {listener.name} occurs twice")
        config = self._config
        first = len(self.processors)
        processors = [
            self._new_processor(number, listener) for number in range(first, first + config.num_network_threads)
        ]
        self.processors += processors
        self._processor_threads += [KafkaThread(processor.name, processor) for processor in processors]
        self.connection_rates.add_listener(listener.name)
        self._acceptors[listener.name] = Acceptor(
            listener,
            processors,
            self.connection_quotas,
            self.connection_rates,
            config.socket_send_buffer_bytes,
            config.socket_receive_buffer_bytes,
            self._time,
        )

    def _new_processor(self, number: int, listener: Listener) -> Processor:
        return Processor(
            number,
            f"kafka-network-thread-{self._config.broker_id}-{listener.name}-{number}",
            listener.name,
            listener.security_protocol,
            self._time,
            self._config.socket_request_max_bytes,
            self._config.connections_max_idle_ms,
            self.request_channel,
            self.connection_quotas,
            self.unserved_requests,
            listener.channel_builder,
            self._config.failed_authentication_delay_ms,
        )

    def bound_port(self, listener_name: str = "PLAINTEXT") -> int:
        """The port of a listener, even if the kernel chose it. Raises KafkaError for an unknown name."""
        if listener_name not in self._acceptors:
            raise KafkaError(f"unknown listener {listener_name}; known: {', '.join(self._acceptors) or 'none'}")
        return self._acceptors[listener_name].port

    def connection_count(self, address: str) -> int:
        """Open connections from an IP address."""
        return self.connection_quotas.get(address)

    def disconnect_all(self) -> None:
        """Begin to close all connections, even those with requests in progress; new ones are accepted."""
        for processor in self.processors:
            processor.disconnect_all()

    def _wake_up_processor(self, number: int) -> None:
        self.processors[number].wake_up()

    def wake_up(self) -> None:
        """Make all processors look at the clock now."""
        for processor in self.processors:
            processor.wake_up()

    def shutdown(self) -> None:
        """Stop accepting, then stop the processors and close all connections; may be called again."""
        for acceptor in self._acceptors.values():
            acceptor.shutdown()
            acceptor.close()
        for thread in self._processor_threads:
            thread.initiate_shutdown()
        self.request_channel.shutdown()
        for thread, processor in zip(self._processor_threads, self.processors, strict=True):
            thread.await_shutdown()
            processor.close_all()
        self.request_channel.shutdown()  # once more, for what a processor queued in its last turn
        self._acceptors.clear()
