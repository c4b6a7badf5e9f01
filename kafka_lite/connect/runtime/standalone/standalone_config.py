"""The configuration keys of a standalone worker.

Kafka 0.10.2: connect/runtime/.../connect/runtime/standalone/StandaloneConfig.java · book 8.3.1
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import NO_DEFAULT, Importance, Type
from kafka_lite.connect.runtime.worker_config import WorkerConfig, base_config_def

CONFIG = base_config_def().define(
    "offset.storage.file.filename", Type.STRING, NO_DEFAULT, Importance.HIGH, "The file that has the source offsets."
)


class StandaloneConfig(WorkerConfig):
    """The values of a standalone worker's keys."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Raises ConfigError."""
        super().__init__(CONFIG, props)
