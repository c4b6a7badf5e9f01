"""The plug-in interface for reporters of Kafka's metrics: classes listed in ``metric.reporters``.

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
    """A class named in the broker's configuration: it is instantiated without arguments, then configured."""

    @abstractmethod
    def configure(self, configs: Mapping[str, object]) -> None:
        """Configure the object; called first. ``configs`` has all keys of the broker; unknown ones are not parsed."""


class MetricsReporter(Configurable):
    """Base class of reporters, which are notified of every metric.

    A metric's ``value`` may be read at any time, from any thread.
    """

    @abstractmethod
    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        """Receive the existing metrics."""

    @abstractmethod
    def metric_change(self, metric: KafkaMetric) -> None:
        """A metric was added or replaced."""

    @abstractmethod
    def metric_removal(self, metric: KafkaMetric) -> None:
        """A metric was removed."""

    @abstractmethod
    def close(self) -> None:
        """Close the reporter; called when the broker stops."""


def configured_instance(name: str, kind: type[C], configs: Mapping[str, object]) -> C:
    """Create and configure an instance of the class ``package.module.Class`` (or ``package.module:Class``).

    Raises KafkaError if the class does not exist, is not a subclass of ``kind``, or cannot be instantiated or
    configured.
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
        raise KafkaError(f"Could not create an instance of {name}: {error}") from error
    return instance
