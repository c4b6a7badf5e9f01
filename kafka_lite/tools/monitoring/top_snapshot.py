"""The data of ``kafka-lite top``, computed from a broker's beans; the display is elsewhere.

Kafka has no such tool; it reads the beans of core/.../server/KafkaRequestHandler.scala (BrokerTopicMetrics),
network/RequestChannel.scala (RequestMetrics), log/Log.scala and others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kafka_lite.metrics.metric_name import ObjectNamePattern
from kafka_lite.tools.monitoring.broker_beans import Attributes, Beans

PHASES: dict[str, str] = {
    "total": "TotalTimeMs",
    "queue": "RequestQueueTimeMs",
    "local": "LocalTimeMs",
    "remote": "RemoteTimeMs",
    "throttle": "ThrottleTimeMs",
    "response queue": "ResponseQueueTimeMs",
    "send": "ResponseSendTimeMs",
}
"""Phase name → metric."""

BROKER_STATES = {0: "not running", 1: "starting", 2: "recovering", 3: "running", 6: "stopping", 7: "shutting down"}


@dataclass(frozen=True)
class PartitionRow:
    """One partition's log."""

    partition: int
    log_start: int
    log_end: int
    size_bytes: int
    segments: int


@dataclass
class TopicRow:
    """One topic, with its rates per second."""

    name: str
    messages_in: float = 0.0
    bytes_in: float = 0.0
    bytes_out: float = 0.0
    partitions: list[PartitionRow] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        """The total size of the partitions' logs."""
        return sum(partition.size_bytes for partition in self.partitions)

    @property
    def log_start(self) -> int:
        """The sum of the partitions' log start offsets."""
        return sum(partition.log_start for partition in self.partitions)

    @property
    def log_end(self) -> int:
        """The sum of the partitions' log end offsets."""
        return sum(partition.log_end for partition in self.partitions)


@dataclass(frozen=True)
class RequestRow:
    """One kind of request: rate per second, total count, and (p50, p99) in ms of each phase."""

    name: str
    rate: float
    count: int
    phases: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class TopSnapshot:
    """Everything shown in one frame."""

    broker_id: str
    cluster_id: str
    version: str
    state: str
    topics: list[TopicRow]
    requests: list[RequestRow]
    totals: TopicRow
    purgatories: Mapping[str, int]
    """Name → number of waiting operations."""
    network_idle: float
    handlers_idle: float
    request_queue: int
    response_queue: int
    connections: int
    under_replicated: int
    offline: int
    is_controller: bool
    over_s: float | None
    """Seconds over which the rates were measured; None: a moving average over about a minute."""


class BeanReader:
    """Reads numbers from beans, and rates by comparison with the beans of ``over_s`` seconds ago."""

    def __init__(self, beans: Beans, before: Beans | None = None, over_s: float | None = None) -> None:
        self.beans = beans
        self._before = before or {}
        self.over_s = over_s if before else None

    def number(self, name: str, attribute: str = "Value") -> float:
        """An attribute's value; 0 if the bean does not exist (yet)."""
        return _number(self.beans.get(name, {}), attribute)

    def rate(self, name: str) -> float:
        """A meter's events per second."""
        if self.over_s is None:
            return self.number(name, "OneMinuteRate")
        events = self.number(name, "Count") - _number(self._before.get(name, {}), "Count")
        return max(events, 0) / self.over_s

    def tagged(self, prefix: str) -> Iterable[tuple[str, Mapping[str, str], Attributes]]:
        """The beans whose names start with ``prefix``, with their properties."""
        for name, attributes in self.beans.items():
            if name.startswith(prefix):
                yield name, dict(ObjectNamePattern.parse(name).properties), attributes


def _number(attributes: Attributes, attribute: str) -> float:
    value = attributes.get(attribute)
    return float(value) if isinstance(value, int | float) else 0.0


def snapshot_of(beans: Beans, before: Beans | None = None, over_s: float | None = None) -> TopSnapshot:
    """The snapshot of ``beans``, with rates since ``before``, ``over_s`` seconds earlier, or one-minute rates."""
    reader = BeanReader(beans, before, over_s)
    app_info = next(reader.tagged("kafka.server:type=app-info"), ("", {}, {}))  # type: ignore[call-overload]
    server = "kafka.server:type=KafkaServer,name="
    return TopSnapshot(
        broker_id=app_info[1].get("id", "?"),
        version=str(app_info[2].get("Version", "?")),
        cluster_id=str(beans.get(f"{server}ClusterId", {}).get("Value", "?")),
        state=BROKER_STATES.get(int(reader.number(f"{server}BrokerState")), "?"),
        topics=_topics(reader),
        requests=_requests(reader),
        totals=_topic_rates(reader, "", ""),
        purgatories={
            properties["delayedOperation"]: int(_number(attributes, "Value"))
            for _, properties, attributes in reader.tagged(
                "kafka.server:type=DelayedOperationPurgatory,name=NumDelayedOperations"
            )
        },
        network_idle=min(reader.number("kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent"), 1.0),
        handlers_idle=_handlers_idle(reader),
        request_queue=int(reader.number("kafka.network:type=RequestChannel,name=RequestQueueSize")),
        response_queue=int(reader.number("kafka.network:type=RequestChannel,name=ResponseQueueSize")),
        connections=int(
            sum(
                _number(attributes, "connection-count")
                for _, _, attributes in reader.tagged("kafka.server:type=socket-server-metrics")
            )
        ),
        under_replicated=int(reader.number("kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions")),
        offline=int(reader.number("kafka.controller:type=KafkaController,name=OfflinePartitionsCount")),
        is_controller=bool(reader.number("kafka.controller:type=KafkaController,name=ActiveControllerCount")),
        over_s=reader.over_s,
    )


def _handlers_idle(reader: BeanReader) -> float:
    """The meter counts idle nanoseconds per thread, so its rate per second is 10⁹ if all threads are idle."""
    name = "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent"
    rate = reader.rate(name)
    return min(rate / 1e9 if reader.over_s is not None else rate, 1.0)


def _topics(reader: BeanReader) -> list[TopicRow]:
    """Every topic with a log on this broker, busiest first."""
    logs: dict[str, dict[int, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for _, properties, attributes in reader.tagged("kafka.log:type=Log,"):
        numbers = logs[properties["topic"]][int(properties["partition"])]
        numbers[properties["name"]] = int(_number(attributes, "Value"))
    rows = []
    for topic, partitions in logs.items():
        row = _topic_rates(reader, topic, f",topic={topic}")
        row.partitions = [_partition(number, values) for number, values in sorted(partitions.items())]
        rows.append(row)
    return sorted(rows, key=lambda row: (-(row.bytes_in + row.bytes_out), row.name.startswith("__"), row.name))


def _topic_rates(reader: BeanReader, topic: str, tag: str) -> TopicRow:
    meter = "kafka.server:type=BrokerTopicMetrics,name="
    return TopicRow(
        topic,
        reader.rate(f"{meter}MessagesInPerSec{tag}"),
        reader.rate(f"{meter}BytesInPerSec{tag}"),
        reader.rate(f"{meter}BytesOutPerSec{tag}"),
    )


def _partition(number: int, values: Mapping[str, int]) -> PartitionRow:
    return PartitionRow(
        number,
        values.get("LogStartOffset", 0),
        values.get("LogEndOffset", 0),
        values.get("Size", 0),
        values.get("NumLogSegments", 0),
    )


def _requests(reader: BeanReader) -> list[RequestRow]:
    """The kinds of requests received, most frequent first. Fetch is split into FetchConsumer and FetchFollower."""
    rows = []
    for name, properties, attributes in reader.tagged("kafka.network:type=RequestMetrics,name=RequestsPerSec"):
        request, count = properties["request"], int(_number(attributes, "Count"))
        if count and request != "Fetch":
            phases = {phase: _quantiles(reader, metric, request) for phase, metric in PHASES.items()}
            rows.append(RequestRow(request, reader.rate(name), count, phases))
    return sorted(rows, key=lambda row: (-row.rate, -row.count, row.name))


def _quantiles(reader: BeanReader, metric: str, request: str) -> tuple[float, float]:
    bean = f"kafka.network:type=RequestMetrics,name={metric},request={request}"
    return reader.number(bean, "50thPercentile"), reader.number(bean, "99thPercentile")
