"""The requests that all tools of groups send: to coordinators, wherever they are, and to the logs' leaders.

Kafka 0.10.2: core/.../admin/AdminClient.scala · book 5.2.2
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_42_delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from kafka_lite.tools.admin.admin_channel import RETRY_BACKOFF_MS, AdminChannel
from kafka_lite.tools.admin.partition_offsets import Offsets, known_offsets, list_offsets
from kafka_lite.tools.common.tool_errors import ToolError

ONE_KEY = 3
"""Last FindCoordinator version that takes a single group."""

MOVING = frozenset({
    Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR, Errors.COORDINATOR_LOAD_IN_PROGRESS,
    Errors.UNSTABLE_OFFSET_COMMIT,
})  # fmt: skip
"""The coordinator has moved or is not ready yet, or a transaction is about to end."""

Result = TypeVar("Result")


class GroupService:
    """Sends one request at a time; waits up to ``timeout_ms`` for coordinators that are moving or loading.

    Raises ToolError and ConnectionError.
    """

    def __init__(self, channel: AdminChannel, timeout_ms: float = 5_000) -> None:
        self._channel = channel
        self._timeout_ms = timeout_ms

    def log_offsets(self, partitions: Iterable[TopicPartition], timestamp: int) -> Offsets:
        """Offsets where partitions begin (EARLIEST), end (LATEST), or first reach a timestamp (ms).

        Omits only partitions without a record that late. Raises ToolError if an offset is still not known after
        ``timeout_ms``.
        """
        return known_offsets(list_offsets(self._channel, partitions, timestamp, self._timeout_ms))

    def partitions_of(self, topics: Iterable[str]) -> dict[str, list[int]]:
        """Topic -> its partitions. Omits topics that do not exist."""
        known = by_topic(self._channel.leaders(set(topics)))
        return {topic: sorted(partitions) for topic, partitions in known.items()}

    def delete_groups(self, groups: Iterable[str]) -> dict[str, Errors]:
        """Delete groups that have no members. Returns each group's result."""
        return {group: self._at_coordinator(group, partial(self._delete, group)) for group in groups}

    def _delete(self, group: str, broker: int) -> tuple[Errors, Errors]:
        response = self._channel.send(DeleteGroupsRequest(groups_names=[group]), DeleteGroupsResponse, broker)
        error = Errors.for_code(response.results[0].error_code)
        return (error, error) if error in MOVING else (Errors.NONE, error)

    # ── The coordinator ───────────────────────────────────────────────────────────────────────────────────────────

    def find_coordinator(self, group: str) -> int:
        """Broker id of the group's coordinator."""
        return self._until_settled(f"group '{group}'", lambda: self._find_coordinator(group))

    def _find_coordinator(self, group: str) -> tuple[Errors, int]:
        request = FindCoordinatorRequest(key=group)
        response = self._channel.send(request, FindCoordinatorResponse, max_version=ONE_KEY)
        if response.error_code == Errors.NONE.code and response.node_id not in self._channel.brokers:
            self._channel.refresh()
        return Errors.for_code(response.error_code), response.node_id

    def _at_coordinator(self, group: str, ask: Callable[[int], tuple[Errors, Result]]) -> Result:
        """Send a request to the coordinator; if it has moved, find the new one and retry."""
        return self._until_settled(f"group '{group}'", lambda: ask(self.find_coordinator(group)))

    def _until_settled(self, what: str, ask: Callable[[], tuple[Errors, Result]]) -> Result:
        """Ask until the error no longer passes by itself. Raises ToolError, whose text begins with ``what``."""
        time = self._channel.time
        deadline_ms = time.hi_res_ms() + self._timeout_ms
        while True:
            error, result = ask()
            if error not in MOVING or time.hi_res_ms() > deadline_ms:
                self._check(error.code, what)
                return result
            time.sleep(RETRY_BACKOFF_MS)

    @staticmethod
    def _check(code: int, what: str) -> None:
        error = Errors.for_code(code)
        if error is not Errors.NONE:
            raise ToolError(f"{what}: {error.name}: {error.message}")


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Topic -> its partition numbers, sorted."""
    grouped: dict[str, list[int]] = defaultdict(list)
    for partition in sorted(partitions):
        grouped[partition.topic].append(partition.partition)
    return dict(grouped)
