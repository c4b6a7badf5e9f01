"""ElectLeaders responds once this broker's metadata has the new leaders.

Kafka 2.2: core/.../server/DelayedElectLeader.scala · book 6.3.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperation
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.metadata_cache import MetadataCache

ElectionErrors = dict[TopicPartition, ApiError | None]


class DelayedElectLeader(DelayedOperation):
    """Waits until the metadata cache has every expected leader. A partition that is late gets REQUEST_TIMED_OUT."""

    def __init__(
        self,
        delay_ms: float,
        expected_leaders: Mapping[TopicPartition, int],
        errors: Mapping[TopicPartition, ApiError],
        metadata_cache: MetadataCache,
        callback: Callable[[ElectionErrors], None],
    ) -> None:
        """``errors``: the partitions for which there was no election; ``callback`` gets the outcome of all."""
        super().__init__(delay_ms)
        self._expected_leaders = expected_leaders
        self._errors = errors
        self._cache = metadata_cache
        self._callback = callback

    def _is_done(self, partition: TopicPartition) -> bool:
        info = self._cache.get_partition_info(partition)
        return info is not None and info.leader == self._expected_leaders[partition]

    def try_complete(self) -> bool:
        """Complete if all leaders are known."""
        return all(map(self._is_done, self._expected_leaders)) and self.force_complete()

    def on_complete(self) -> None:
        """Respond."""
        late = {p: ApiError(Errors.REQUEST_TIMED_OUT) for p in self._expected_leaders if not self._is_done(p)}
        self._callback({**dict.fromkeys(self._expected_leaders), **late, **self._errors})

    def on_expiration(self) -> None:
        """No-op: ``on_complete`` does everything."""
