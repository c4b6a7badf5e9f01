"""The Kafka versions that changed the inter-broker protocol or the on-disk format, in order.

Kafka 0.10.2: core/.../api/ApiVersion.scala; the later ones as in Kafka 3.9's MetadataVersion · book 7.2.1
"""

from __future__ import annotations

from enum import Enum
from functools import total_ordering

from kafka_lite.common.errors import KafkaError


@total_ordering
class ApiVersion(Enum):
    """A value of ``inter.broker.protocol.version`` or ``log.message.format.version``.

    Each row has the release as users write it, the internal version (``IV``) within its development (releases up to
    0.9 have none), and the message format ("magic") of that release. Rows compare by their position in the table.
    """

    release: str
    internal: str
    magic: int

    def __init__(self, release: str, internal: str, magic: int) -> None:
        self.release = release
        self.internal = internal
        self.magic = magic

    KAFKA_0_8_0 = ("0.8.0", "", 0)
    KAFKA_0_8_1 = ("0.8.1", "", 0)
    KAFKA_0_8_2 = ("0.8.2", "", 0)
    KAFKA_0_9_0 = ("0.9.0", "", 0)  # UpdateMetadata v1, quotas' throttle times
    KAFKA_0_10_0_IV0 = ("0.10.0", "IV0", 1)  # KIP-31, 32: relative offsets and timestamps in messages
    KAFKA_0_10_0_IV1 = ("0.10.0", "IV1", 1)  # KIP-36: racks, UpdateMetadata v2
    KAFKA_0_10_1_IV0 = ("0.10.1", "IV0", 1)  # KIP-62: rebalance timeout of groups
    KAFKA_0_10_1_IV1 = ("0.10.1", "IV1", 1)  # KIP-74: Fetch v3
    KAFKA_0_10_1_IV2 = ("0.10.1", "IV2", 1)  # KIP-79: ListOffsets v1
    KAFKA_0_10_2_IV0 = ("0.10.2", "IV0", 1)  # KIP-103: listener names, UpdateMetadata v3; the book's Kafka
    KAFKA_0_11_0_IV0 = ("0.11.0", "IV0", 2)  # KIP-98: record batches, transactions
    KAFKA_0_11_0_IV1 = ("0.11.0", "IV1", 2)
    KAFKA_0_11_0_IV2 = ("0.11.0", "IV2", 2)  # KIP-101: leader epochs
    KAFKA_1_0_IV0 = ("1.0", "IV0", 2)
    KAFKA_1_1_IV0 = ("1.1", "IV0", 2)
    KAFKA_2_0_IV0 = ("2.0", "IV0", 2)
    KAFKA_2_0_IV1 = ("2.0", "IV1", 2)
    KAFKA_2_1_IV0 = ("2.1", "IV0", 2)
    KAFKA_2_1_IV1 = ("2.1", "IV1", 2)
    KAFKA_2_1_IV2 = ("2.1", "IV2", 2)  # KIP-110: zstd
    KAFKA_2_2_IV0 = ("2.2", "IV0", 2)
    KAFKA_2_2_IV1 = ("2.2", "IV1", 2)
    KAFKA_2_3_IV0 = ("2.3", "IV0", 2)
    KAFKA_2_3_IV1 = ("2.3", "IV1", 2)
    KAFKA_2_4_IV0 = ("2.4", "IV0", 2)
    KAFKA_2_4_IV1 = ("2.4", "IV1", 2)
    KAFKA_2_5_IV0 = ("2.5", "IV0", 2)
    KAFKA_2_6_IV0 = ("2.6", "IV0", 2)
    KAFKA_2_7_IV0 = ("2.7", "IV0", 2)
    KAFKA_2_7_IV1 = ("2.7", "IV1", 2)
    KAFKA_2_7_IV2 = ("2.7", "IV2", 2)
    KAFKA_2_8_IV0 = ("2.8", "IV0", 2)
    KAFKA_2_8_IV1 = ("2.8", "IV1", 2)
    KAFKA_3_0_IV0 = ("3.0", "IV0", 2)
    KAFKA_3_0_IV1 = ("3.0", "IV1", 2)
    KAFKA_3_1_IV0 = ("3.1", "IV0", 2)
    KAFKA_3_2_IV0 = ("3.2", "IV0", 2)
    KAFKA_3_3_IV0 = ("3.3", "IV0", 2)
    KAFKA_3_3_IV1 = ("3.3", "IV1", 2)
    KAFKA_3_3_IV2 = ("3.3", "IV2", 2)
    KAFKA_3_3_IV3 = ("3.3", "IV3", 2)
    KAFKA_3_4_IV0 = ("3.4", "IV0", 2)
    KAFKA_3_5_IV0 = ("3.5", "IV0", 2)
    KAFKA_3_5_IV1 = ("3.5", "IV1", 2)
    KAFKA_3_5_IV2 = ("3.5", "IV2", 2)
    KAFKA_3_6_IV0 = ("3.6", "IV0", 2)
    KAFKA_3_6_IV1 = ("3.6", "IV1", 2)
    KAFKA_3_6_IV2 = ("3.6", "IV2", 2)
    KAFKA_3_7_IV0 = ("3.7", "IV0", 2)
    KAFKA_3_7_IV1 = ("3.7", "IV1", 2)
    KAFKA_3_7_IV2 = ("3.7", "IV2", 2)
    KAFKA_3_7_IV3 = ("3.7", "IV3", 2)
    KAFKA_3_7_IV4 = ("3.7", "IV4", 2)
    KAFKA_3_8_IV0 = ("3.8", "IV0", 2)
    KAFKA_3_9_IV0 = ("3.9", "IV0", 2)

    @property
    def version(self) -> str:
        """The full name, for example ``0.10.2-IV0``."""
        return f"{self.release}-{self.internal}" if self.internal else self.release

    @staticmethod
    def parse(text: str) -> ApiVersion:
        """The row of a full name (``0.10.2-IV0``), or the last row of a release (``0.10.2``, ``0.10.2.1``, ``3.0.1``).

        A release has three numbers up to 0.11 and two from 1.0 on; the number of a bug-fix release is ignored.
        Raises InvalidVersionError.
        """
        parts = text.strip().split(".")
        name = ".".join(parts[: 3 if parts[0] == "0" else 2])
        found = _BY_NAME.get(name)
        if found is None:
            raise InvalidVersionError(text)
        return found

    @property
    def _position(self) -> int:
        return _POSITIONS[self.name]

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, ApiVersion):
            return NotImplemented
        return self._position < other._position

    def __str__(self) -> str:
        return self.version


class InvalidVersionError(KafkaError):
    """A version that does not exist in Kafka."""

    def __init__(self, text: str) -> None:
        super().__init__(f"Version {text} is not a valid version; valid versions: {', '.join(RELEASES)}")


_POSITIONS = {row.name: position for position, row in enumerate(ApiVersion)}
_BY_NAME = {row.version: row for row in ApiVersion} | {row.release: row for row in ApiVersion}
RELEASES = tuple(dict.fromkeys(row.release for row in ApiVersion))

LATEST = ApiVersion.KAFKA_3_0_IV1
"""The version that a broker uses by default."""
