"""The errors of uReplicator's controller.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/rest/resources ·
book 8.2.2
"""

from __future__ import annotations

from kafka_lite.common.errors import KafkaError


class ControllerError(KafkaError):
    """The base class of the errors of uReplicator's controller."""


class ControllerConfError(ControllerError):
    """A flag that is missing, or whose value cannot be used."""


class UnknownTopicError(ControllerError):
    """A topic that is not mirrored."""


class FewerPartitionsError(ControllerError):
    """A topic that would be mirrored with fewer partitions than it is. (uReplicator writes a record of two minds.)"""
