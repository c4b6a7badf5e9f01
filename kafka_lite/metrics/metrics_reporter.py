"""How one's own code learns of Kafka's metrics: a class that ``metric.reporters`` names.

Kafka 0.10.2: clients/.../common/metrics/MetricsReporter.java, clients/.../common/Configurable.java · book 10.1
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeVar

from kafka_lite.common.errors import KafkaError
from kafka_lite.metrics.sensor import KafkaMetric

C = TypeVar("C", bound="Configurable")


class Configurable(ABC):
    """What is named in the broker's configuration: an instance is made without arguments, and configured."""

    @abstractmethod
    def configure(self, configs: Mapping[str, object]) -> None:
        """Called first. All keys of the broker: those that it knows with their types, others as they were given."""


class MetricsReporter(Configurable):
    """To be subclassed: is told of every metric, from the first to the last.

    A metric's ``value`` may be read at any time, by any thread.
    """

    @abstractmethod
    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        """The metrics that are there already."""

    @abstractmethod
    def metric_change(self, metric: KafkaMetric) -> None:
        """A metric was added, or replaced."""

    @abstractmethod
    def metric_removal(self, metric: KafkaMetric) -> None:
        """A metric is gone."""

    @abstractmethod
    def close(self) -> None:
        """The broker stops."""


def configured_instance(name: str, kind: type[C], configs: Mapping[str, object]) -> C:
    """An instance of the class ``package.module.Class`` (or ``package.module:Class``), configured.

    Raises KafkaError when there is no such class, when it is not a ``kind``, or when it does not want to be.
    """
    module, _, class_name = name.replace(":", ".").rpartition(".")
    try:
        found = getattr(importlib.import_module(module), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise KafkaError(f"Class {name} cannot be found: {error}") from error
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise KafkaError(f"{name} is not a {kind.__module__}.{kind.__name__}")
    try:
        instance = found()
        instance.configure(configs)
    except Exception as error:
        raise KafkaError(f"Could not make an instance of {name}: {error}") from error
    return instance
