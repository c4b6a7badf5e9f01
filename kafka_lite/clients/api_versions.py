"""Which versions the connected brokers understand, shared between the network client and those who build records.

Kafka 0.11: clients/.../clients/ApiVersions.java · book 2.1.3
"""

from __future__ import annotations

from kafka_lite.clients.node_api_versions import NodeApiVersions
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.record.record import CURRENT_MAGIC, MAGIC_V0, MAGIC_V1


class ApiVersions:
    """What each broker said when it was connected; forgotten when the connection is lost.

    Written by the network client's thread; any thread may read.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, NodeApiVersions] = {}
        self._max_usable_produce_magic = CURRENT_MAGIC

    def update(self, node: str, versions: NodeApiVersions) -> None:
        """A broker has answered."""
        self._nodes[node] = versions
        self._recompute()

    def remove(self, node: str) -> None:
        """A connection was lost: perhaps another version of the broker comes back."""
        if self._nodes.pop(node, None) is not None:
            self._recompute()

    def get(self, node: str) -> NodeApiVersions | None:
        """What the broker said."""
        return self._nodes.get(node)

    @property
    def max_usable_produce_magic(self) -> int:
        """The newest message format that all connected brokers take; today's while none is known."""
        return self._max_usable_produce_magic

    def _recompute(self) -> None:
        known = [produce_magic(versions) for versions in self._nodes.values()]
        self._max_usable_produce_magic = min(known, default=CURRENT_MAGIC)


def produce_magic(versions: NodeApiVersions) -> int:
    """The newest message format that a broker takes: Produce has taken v1 since its version 2, v2 since 3."""
    latest = versions.latest(ApiKey.PRODUCE) or 0
    return MAGIC_V0 if latest < 2 else MAGIC_V1 if latest < 3 else CURRENT_MAGIC
