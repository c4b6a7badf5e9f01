"""The application as its tasks see it.

Kafka 0.10.2: streams/.../processor/internals/AbstractProcessorContext.java (its fields), StreamThread.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_lite.common.serdes import Serde
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.processor.state_store import StateStore
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.streams_metrics import StreamsMetrics


@dataclass(frozen=True)
class TaskEnvironment:
    """The same for every task of a thread. The contexts of tasks show it to processors and stores."""

    application_id: str
    key_serde: Serde[Any]
    """The default serde of keys."""
    value_serde: Serde[Any]
    """The default serde of values."""
    global_stores: Mapping[str, StateStore] = field(default_factory=dict)
    """By their names; all nodes may use them."""
    cache: ThreadCache = field(default_factory=ThreadCache)
    """The record caches of the thread. The default has no room: stores that would use it flush every put at once."""
    app_configs: Mapping[str, object] = field(default_factory=dict)
    """The configuration of the application, as it was given."""
    metrics: StreamsMetrics = field(default_factory=lambda: StreamsMetricsImpl(Metrics()))
    """The metrics of the thread. The default has no reporter."""
