"""The automatic commit of a member that is about to join again.

Kafka 3.4: clients/.../consumer/internals/ConsumerCoordinator.java (onJoinPrepare) · book 4.4.4, 5.1.4
"""

from __future__ import annotations

import logging

from kafka_lite.clients.request_future import RequestFuture
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.consumer.consumer_errors import StaleMemberEpochError
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.group.coordinator_lookup import CoordinatorLookup
from kafka_lite.consumer.group.offset_committer import OffsetCommitter, Offsets
from kafka_lite.consumer.timer import Backoff, Timer

logger = logging.getLogger(__name__)


class CommitBeforeJoin:
    """Commits, and retries until the commit succeeds, fails for good, or has taken as long as a rebalance may take.

    If it fails, the next owners of the partitions read some records again. No record is lost.
    """

    def __init__(
        self,
        offsets: Offsets,
        deadline: Timer,
        backoff: Backoff,
        commits: OffsetCommitter,
        client: ConsumerNetworkClient,
        finder: CoordinatorLookup,
        final: frozenset[Errors] = frozenset(),
    ) -> None:
        """``final``: errors after which it is not repeated, although they are retriable."""
        self.offsets = offsets
        self.has_succeeded = False
        self._deadline = deadline
        self._backoff = backoff
        self._commits = commits
        self._client = client
        self._finder = finder
        self._final = final
        self._future: RequestFuture[None] | None = None
        """The commit in progress, which may last over several polls."""

    def is_over(self, timer: Timer) -> bool:
        """Make progress until the timer expires; returns whether the commit has ended."""
        self._deadline.update()
        patience = timer.part(self._deadline.remaining_ms)
        while self.offsets:
            if self._future is None:
                if not self._finder.ensure_ready(patience) or not self._backoff.is_over(patience):
                    break
                self._future = self._commits.send_commit(self.offsets)
            if not self._client.poll_future(self._future, patience):
                break
            future, self._future = self._future, None
            if future.succeeded:
                self.has_succeeded = True
                return True
            if not self._may_succeed(future):
                logger.warning("Auto-commit of %s before a rebalance failed: %s", self.offsets, future.exception)
                return True
            self._backoff.begin()
        timer.update()
        self._deadline.update()
        return not self.offsets or self._deadline.is_expired

    def _may_succeed(self, failed: RequestFuture[None]) -> bool:
        """Whether to repeat the commit: in the member's next epoch, too."""
        error = failed.exception
        if isinstance(error, ApiError) and error.error in self._final:
            return False
        return failed.is_retriable or isinstance(error, StaleMemberEpochError)
