"""The network layer's metrics: queues, idle threads, connections, requests.

Kafka 0.10.2: core/.../network/SocketServer.scala, RequestChannel.scala · book 2.3.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafka_lite.common.time import Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network.metrics.request_metrics import RequestChannelMetrics
from kafka_lite.network.metrics.selector_metrics import SOCKET_SERVER, SelectorMetrics
from kafka_lite.network.processor import Processor
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.socket_server import SocketServer
from kafka_lite.protocol.api_keys import ApiKey

PACKAGE = "kafka.network"


def measure_socket_server(
    registry: MetricsRegistry, metrics: Metrics, time: Time, server: SocketServer, api_keys: Iterable[ApiKey]
) -> None:
    """Create the metrics of a socket server that has started; ``api_keys`` are the requests that it may get."""
    idle = [_measure_processor(registry, metrics, time, processor) for processor in server.processors]

    def average_idle() -> float:
        return sum(read() for read in idle) / len(idle)

    group = KafkaMetricsGroup(registry, time, PACKAGE, "SocketServer")
    group.new_gauge("NetworkProcessorAvgIdlePercent", average_idle)
    _measure_queues(KafkaMetricsGroup(registry, time, PACKAGE, "RequestChannel"), server.request_channel)
    requests = RequestChannelMetrics(registry, time, api_keys)
    server.request_channel.add_completion_listener(requests.request_completed)


def _measure_processor(
    registry: MetricsRegistry, metrics: Metrics, time: Time, processor: Processor
) -> Callable[[], float]:
    """The beans of one network thread; returns a function that reads the idle part of its time, 0 to 1."""
    tags = {"networkProcessor": str(processor.id)}
    selector = SelectorMetrics(
        metrics, SOCKET_SERVER, tags, processor.counters, lambda: processor.connection_count, time
    )
    registry.add_collector(selector.collect)

    def idle() -> float:
        metric = metrics.metric(selector.io_wait_ratio)
        return metric.value if metric is not None else 0.0

    KafkaMetricsGroup(registry, time, PACKAGE, "Processor").new_gauge("IdlePercent", idle, tags)
    return idle


def _measure_queues(group: KafkaMetricsGroup, channel: RequestChannel) -> None:
    group.new_gauge("RequestQueueSize", lambda: channel.request_queue_size)
    group.new_gauge("ResponseQueueSize", lambda: channel.response_queue_size)

    def size_of(processor: int) -> Callable[[], int]:
        return lambda: channel.response_queue_size_of(processor)

    for processor in range(channel.num_processors):
        group.new_gauge("ResponseQueueSize", size_of(processor), {"processor": str(processor)})
