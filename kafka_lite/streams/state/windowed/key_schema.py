"""The binary keys of window and session stores, and which of them a search has to look at.

Kafka 0.10.2: streams/.../state/internals/WindowStoreKeySchema.java, WindowStoreUtils.java, SessionKeySchema.java
· book 9.2.4
"""

from __future__ import annotations

from abc import ABC
from struct import Struct

MAX_TIME = (1 << 63) - 1
TIMESTAMP_SIZE = 8
WINDOW_SUFFIX = Struct(">qi")
SESSION_SUFFIX = Struct(">qq")
_TIMESTAMP = Struct(">Q")


class KeySchema(ABC):
    """A binary key is the bytes of the record's key and a suffix, which begins with a time.

    All numbers are big-endian and not negative, so that the suffixes of a key are ordered by time as bytes.
    """

    suffix_size: int

    def segment_timestamp(self, key: bytes) -> int:
        """The time of a binary key, which determines its segment, in ms."""
        end = len(key) - self.suffix_size
        return int.from_bytes(key[end : end + TIMESTAMP_SIZE])

    def last_time(self, time_to: int) -> int:
        """The latest time in a binary key that a search up to ``time_to`` may find."""
        return min(time_to, MAX_TIME)

    def matches(self, suffix: bytes, time_to: int) -> bool:  # noqa: ARG002
        """Whether a search up to ``time_to`` finds a key with this suffix, whose time is in the range."""
        return True

    def bounds(self, time_from: int, time_to: int) -> tuple[bytes, bytes]:
        """The lowest suffix to look at, and what is above the highest one."""
        return _TIMESTAMP.pack(time_from), _TIMESTAMP.pack(self.last_time(time_to) + 1)


class WindowStoreKeySchema(KeySchema):
    """The key of a window or of a record to be joined::

        bytes of the key · 8 bytes: time in ms (the start of the window) · 4 bytes: sequence number

    The sequence number is 0, except in a store that keeps several records of the same key and time.
    """

    suffix_size = WINDOW_SUFFIX.size


class SessionKeySchema(KeySchema):
    """The key of a session::

        bytes of the key · 8 bytes: end in ms · 8 bytes: start in ms

    A search from one time to another finds the sessions that overlap this range.
    """

    suffix_size = SESSION_SUFFIX.size

    def last_time(self, time_to: int) -> int:  # noqa: ARG002
        """MAX_TIME: a session that overlaps the range may end at any time after it."""
        return MAX_TIME

    def matches(self, suffix: bytes, time_to: int) -> bool:
        """Whether the session starts before or at the end of the range."""
        return int.from_bytes(suffix[TIMESTAMP_SIZE:]) <= time_to
