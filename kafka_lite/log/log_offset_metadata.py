"""An offset together with its position in the log files.

Kafka 0.10.2: core/.../server/LogOffsetMetadata.scala · book 6.1.4
"""

from __future__ import annotations

from typing import ClassVar

UNKNOWN_SEGMENT_BASE_OFFSET = -1
UNKNOWN_FILE_POSITION = -1


class LogOffsetMetadata:
    """A message's offset, its segment's base offset, and its position (bytes) in the segment's .log file.

    ::

        00000000000000000020.log   │ 20 │ 21 │ 22 │ 23 │ ...
                                             ▲
                                             message_offset 22, segment_base_offset 20, relative_position 204

    With positions, the number of bytes between two offsets of a segment is known without reading the disk; a fetch
    waiting for ``min.bytes`` computes it after every append. Without a position (-1) it is only an offset, for example
    a high watermark from a checkpoint or a follower's log end offset.
    """

    __slots__ = ("message_offset", "relative_position_in_segment", "segment_base_offset")

    UNKNOWN: ClassVar[LogOffsetMetadata]

    def __init__(
        self,
        message_offset: int,
        segment_base_offset: int = UNKNOWN_SEGMENT_BASE_OFFSET,
        relative_position_in_segment: int = UNKNOWN_FILE_POSITION,
    ) -> None:
        self.message_offset = message_offset
        self.segment_base_offset = segment_base_offset
        self.relative_position_in_segment = relative_position_in_segment

    @property
    def message_offset_only(self) -> bool:
        """Whether the position is unknown."""
        return self.segment_base_offset == UNKNOWN_SEGMENT_BASE_OFFSET

    def on_older_segment(self, that: LogOffsetMetadata) -> bool:
        """Whether this offset is in an older segment than ``that``. Raises ValueError if a position is unknown."""
        self._require_places(that)
        return self.segment_base_offset < that.segment_base_offset

    def on_same_segment(self, that: LogOffsetMetadata) -> bool:
        """Whether both offsets are in the same segment. Raises ValueError if a position is unknown."""
        self._require_places(that)
        return self.segment_base_offset == that.segment_base_offset

    def position_diff(self, that: LogOffsetMetadata) -> int:
        """Number of bytes from ``that`` to this offset. Raises ValueError if they are not in the same segment."""
        if not self.on_same_segment(that):
            raise ValueError(f"{self} and {that} are in different segments")
        return self.relative_position_in_segment - that.relative_position_in_segment

    def _require_places(self, that: LogOffsetMetadata) -> None:
        if self.message_offset_only or that.message_offset_only:
            raise ValueError(f"cannot compare {self} with {that}: the position of one is unknown")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LogOffsetMetadata)
            and self.message_offset == other.message_offset
            and self.segment_base_offset == other.segment_base_offset
            and self.relative_position_in_segment == other.relative_position_in_segment
        )

    def __hash__(self) -> int:
        return hash((self.message_offset, self.segment_base_offset, self.relative_position_in_segment))

    def __repr__(self) -> str:
        place = f"{self.segment_base_offset}:{self.relative_position_in_segment}"
        return f"LogOffsetMetadata({self.message_offset} at {place})"


LogOffsetMetadata.UNKNOWN = LogOffsetMetadata(-1)
