"""``meta.properties``: to which broker of which cluster a log directory belongs.

Kafka 0.10.2: core/.../server/BrokerMetadataCheckpoint.scala (BrokerMetadata) · book 6.1.5
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import PropertiesError, dump_properties, load_properties

logger = logging.getLogger(__name__)

META_PROPERTIES_FILE = "meta.properties"
VERSION = 0


class InconsistentBrokerMetadataError(KafkaError):
    """The log directories belong to another broker or cluster, or are inconsistent with each other."""


@dataclass(frozen=True)
class BrokerMetadata:
    """The broker that a log directory belongs to, and its cluster, which Kafka before 2.2 did not store."""

    broker_id: int
    cluster_id: str | None = None


class BrokerMetadataCheckpoint:
    """A properties file in every log directory::

    #
    #Sat Nov 21 08:05:12 UTC 2026
    broker.id=1
    version=0
    cluster.id=aYb_RMmaRhiK88d1_NouBA
    """

    def __init__(self, log_dir: Path) -> None:
        self.file = log_dir / META_PROPERTIES_FILE

    def ensure(self, metadata: BrokerMetadata) -> None:
        """Write the file unless it already has this content, so that a start needs no disk space. Raises OSError."""
        if self.read() != metadata:
            self.write(metadata)

    def write(self, metadata: BrokerMetadata) -> None:
        """Replace the file. Raises OSError with the file's name."""
        entries = {"broker.id": str(metadata.broker_id), "version": str(VERSION)}
        if metadata.cluster_id is not None:
            entries["cluster.id"] = metadata.cluster_id
        written_at = time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime())
        temporary = self.file.with_name(self.file.name + ".tmp")
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                file.write(dump_properties(entries, comments=("", written_at)))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.file)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise OSError(error.errno, error.strerror, str(self.file)) from error

    def read(self) -> BrokerMetadata | None:
        """The content of the file; None if there is no file.

        Raises InconsistentBrokerMetadataError if the file is invalid, OSError if it cannot be read.
        """
        try:
            properties = load_properties(self.file)
        except FileNotFoundError:
            return None
        except PropertiesError as error:
            raise self._invalid(str(error)) from error
        try:
            version, broker_id = int(properties["version"]), int(properties["broker.id"])
        except (KeyError, ValueError):
            raise self._invalid("it must contain version=0 and broker.id=<number>") from None
        if version != VERSION:
            raise self._invalid(f"its version is {version}, not {VERSION}")
        return BrokerMetadata(broker_id, properties.get("cluster.id"))

    def _invalid(self, reason: str) -> InconsistentBrokerMetadataError:
        return InconsistentBrokerMetadataError(
            f"invalid {self.file}: {reason}. The file says which broker and cluster the log directory belongs to. If "
            "that is this broker, remove the file, and the broker writes it again"
        )


def read_broker_metadata(log_dirs: Iterable[Path]) -> BrokerMetadata | None:
    """The content that all log directories agree on; None if none of them has the file.

    An unreadable directory is skipped: the log manager decides whether the broker can do without it. Raises
    InconsistentBrokerMetadataError if two directories disagree.
    """
    found: dict[Path, BrokerMetadata] = {}
    for log_dir in log_dirs:
        try:
            metadata = BrokerMetadataCheckpoint(log_dir).read()
        except OSError as error:
            logger.error("Cannot read %s in log directory %s: %s", META_PROPERTIES_FILE, log_dir, error)
            continue
        if metadata is not None:
            found[log_dir] = metadata
    if len(set(found.values())) > 1:
        listing = ", ".join(f"{log_dir}: {metadata}" for log_dir, metadata in found.items())
        raise InconsistentBrokerMetadataError(
            f"the log directories do not belong together ({listing}); this could happen if several brokers shared one, "
            "or if one was copied from another broker: move the wrong ones out of log.dirs"
        )
    return next(iter(found.values()), None)
