"""Formats beans as Prometheus text, under the names that Kafka dashboards expect.

Kafka has only JMX, which Prometheus usually reads through the *JMX exporter*. The names here are those of its example
configuration for Kafka (``kafka-2_0_0.yml``), and Strimzi's for percentages, so that existing dashboards work::

    BrokerTopicMetrics, BytesInPerSec    Count             kafka_server_brokertopicmetrics_bytesin_total
    ReplicaManager, PartitionCount       Value             kafka_server_replicamanager_partitioncount
    RequestMetrics, TotalTimeMs          99thPercentile    kafka_network_requestmetrics_totaltimems{quantile="0.99"}
    Processor, IdlePercent               Value             kafka_network_processor_idle_percent
    socket-server-metrics                request-rate      kafka_server_socket_server_metrics_request_rate

Tags become labels. The rates of meters are left out, since Prometheus computes rates from counts. Histograms become
summaries; their ``_sum``, which the JMX exporter does not have, is the mean times the count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_PER_SECOND = re.compile(r"PerSec\w*$")
_PERCENT = re.compile(r"Percent\w*$")
_PERCENTILE = re.compile(r"(\d+)thPercentile")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_]+")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True)
class PrometheusSample:
    """One line, with its labels not formatted yet. A summary is a family of samples with several names."""

    family: str
    kind: str
    name: str
    labels: Mapping[str, str]
    value: float


def prometheus_text(beans: Mapping[MetricName, Mapping[str, AttributeValue]]) -> str:
    """Format all beans; the samples of a family are grouped, as the format requires."""
    families: dict[str, list[PrometheusSample]] = {}
    for name, attributes in beans.items():
        for sample in samples_of(name, attributes):
            families.setdefault(sample.family, []).append(sample)
    return "".join(_family(name, samples) for name, samples in sorted(families.items()))


def samples_of(name: MetricName, attributes: Mapping[str, AttributeValue]) -> Iterator[PrometheusSample]:
    """The samples of one bean. Attributes that are not numbers are skipped."""
    labels = dict(name.tags)
    if "50thPercentile" in attributes:
        yield from _summary(name, attributes, labels)
        return
    for attribute, value in attributes.items():
        if not isinstance(value, bool | int | float):
            continue
        if not name.name:
            yield _single("gauge", _metric_name(name.group, name.type, attribute), labels, value)
        elif attribute == "Count":
            yield _single("counter", _counter_name(name), labels, value)
        elif attribute == "Value" or (attribute == "MeanRate" and _PERCENT.search(name.name)):
            yield _single("gauge", _gauge_name(name), labels, value)


def _single(kind: str, name: str, labels: Mapping[str, str], value: float) -> PrometheusSample:
    return PrometheusSample(name, kind, name, labels, value)


def _summary(
    name: MetricName, attributes: Mapping[str, AttributeValue], labels: Mapping[str, str]
) -> Iterator[PrometheusSample]:
    family = _metric_name(name.group, name.type, name.name)
    for attribute, value in attributes.items():
        percentile = _PERCENTILE.fullmatch(attribute)
        if percentile is not None and isinstance(value, int | float):
            yield PrometheusSample(family, "summary", family, {**labels, "quantile": f"0.{percentile[1]}"}, value)
    mean, count = attributes["Mean"], attributes["Count"]
    if isinstance(mean, int | float) and isinstance(count, int | float):
        yield PrometheusSample(family, "summary", f"{family}_sum", labels, mean * count)
        yield PrometheusSample(family, "summary", f"{family}_count", labels, count)


def _counter_name(name: MetricName) -> str:
    stem = _PER_SECOND.sub("", name.name)
    suffix = "_count" if stem == name.name else "_total"
    return _metric_name(name.group, name.type, stem) + suffix


def _gauge_name(name: MetricName) -> str:
    stem = _PERCENT.sub("_percent", name.name)
    return _metric_name(name.group, name.type, stem)


@lru_cache(maxsize=4096)  # the beans of a thousand partitions share a handful of names
def _metric_name(*parts: str) -> str:
    return re.sub("_+", "_", _NOT_IN_NAMES.sub("_", "_".join(parts))).lower()


def _family(name: str, samples: Iterable[PrometheusSample]) -> str:
    lines = [f"{sample.name}{_labels(sample.labels)} {_number(sample.value)}\n" for sample in samples]
    kind = next(iter(samples)).kind
    return f"# TYPE {name} {kind}\n{''.join(lines)}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{_NOT_IN_NAMES.sub("_", key)}="{value.translate(_ESCAPES)}"' for key, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value))
