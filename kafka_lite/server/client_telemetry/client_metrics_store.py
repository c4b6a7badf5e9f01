"""The metrics that clients have pushed to this broker, as beans.

Not in Kafka, which gives the bytes of each push to a plugin (clients/.../server/telemetry/ClientTelemetryReceiver.java,
KIP-714) and keeps nothing · book 10.1
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from uuid import UUID

from kafka_lite.common.ids.uuids import encode_uuid
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.server.client_telemetry.metrics_data import Point

BEAN_GROUP, BEAN_TYPE = "kafka.client", "client-telemetry"
MAX_KEPT_VALUES = 200_000
"""How many values of all clients are kept, about 50 MB; then the client that pushed longest ago is forgotten."""


class ClientMetricsStore:
    """The last value of each metric of each client. Changes since the last push are added up. Thread-safe.

    ::

        bean   kafka.client:type=client-telemetry,client_id=orders,client_instance_id=0nYWw7RDT8S…,…
               org.apache.kafka.producer.record.send.total                 1200
               org.apache.kafka.producer.topic.record.send.rate{topic=t}   3.5
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clients: OrderedDict[UUID, tuple[MetricName, dict[str, float]]] = OrderedDict()
        self._kept = 0

    def add(self, instance_id: UUID, attributes: Mapping[str, str], points: Iterable[Point]) -> None:
        """Keep the values of a push. ``attributes``: those of the client."""
        with self._lock:
            known = self._clients.get(instance_id)
            name, values = known if known is not None else (_bean_name(instance_id, attributes), {})
            before = len(values)
            for point in points:
                key = point.key
                values[key] = values.get(key, 0) + point.value if point.is_delta else point.value
            self._clients[instance_id] = name, values
            self._clients.move_to_end(instance_id)
            self._kept += len(values) - before
            while self._kept > MAX_KEPT_VALUES:
                _, (_, forgotten) = self._clients.popitem(last=False)
                self._kept -= len(forgotten)

    def remove(self, instance_id: UUID) -> None:
        """Forget a client."""
        with self._lock:
            found = self._clients.pop(instance_id, None)
            self._kept -= len(found[1]) if found is not None else 0

    def beans(self) -> dict[MetricName, Mapping[str, AttributeValue]]:
        """One bean for each client."""
        with self._lock:
            return {name: dict(values) for name, values in self._clients.values()}


def _bean_name(instance_id: UUID, attributes: Mapping[str, str]) -> MetricName:
    shown = ("client_id", "client_software_name", "client_software_version", "client_source_address")
    tags = {key: attributes.get(key, "") for key in shown}
    return MetricName.of(BEAN_GROUP, BEAN_TYPE, tags={**tags, "client_instance_id": encode_uuid(instance_id)})
