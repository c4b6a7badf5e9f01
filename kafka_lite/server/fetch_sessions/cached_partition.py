"""One partition of a fetch session, as the broker remembers it.

Kafka 1.1: core/.../server/FetchSession.scala (CachedPartition); 0.10 has no fetch sessions · book 4.1.4
"""

from __future__ import annotations

from typing import Final

from kafka_lite.common.errors import Errors
from kafka_lite.server.fetch_params import FetchPartition, LogReadResult

_NO_ERROR: Final = Errors.NONE
UNKNOWN_OFFSET = -1


class CachedPartition:
    """The last request for the partition, and the bounds of the log that the client knows."""

    __slots__ = ("asked", "high_watermark", "log_start_offset")

    def __init__(
        self, asked: FetchPartition, high_watermark: int = UNKNOWN_OFFSET, log_start_offset: int = UNKNOWN_OFFSET
    ) -> None:
        self.asked = asked
        self.high_watermark = high_watermark
        self.log_start_offset = log_start_offset

    def maybe_update_response_data(self, result: LogReadResult) -> bool:
        """Whether the response must contain the partition; remembers what the client then knows.

        ::

            in the response if there are …      afterwards
            ───────────────────────────────     ──────────────────────────────────────────────────────────────
            records                             the session moves the partition to the end
            another high watermark              the client knows it
            another log start offset            the client knows it
            a diverging epoch                   nothing changes: the client truncates its log, and asks again
            a preferred read replica            nothing changes: the client forgets the partition here
            an error                            the client knows no high watermark, so that the next response
                                                without the error contains the partition
        """
        must_respond = result.size_in_bytes > 0 or result.is_news
        if result.high_watermark != self.high_watermark:
            self.high_watermark = result.high_watermark
            must_respond = True
        if result.log_start_offset != self.log_start_offset:
            self.log_start_offset = result.log_start_offset
            must_respond = True
        if result.error is not _NO_ERROR:
            self.high_watermark = UNKNOWN_OFFSET
        return must_respond

    def must_respond(self, result: LogReadResult) -> bool:
        """The result of ``maybe_update_response_data``, but remember nothing."""
        return (
            result.size_in_bytes > 0
            or result.high_watermark != self.high_watermark
            or result.log_start_offset != self.log_start_offset
            or result.is_news
        )
