"""Which sessions live, and when each of them expires unless its client is heard of.

ZooKeeper 3.8: zookeeper-server/.../server/SessionTrackerImpl.java, ExpiryQueue.java · book 7.1.1

Deadlines are rounded up to the next tick, and sessions of the same tick share a bucket. Hearing of a client moves its
session to a later bucket; once per tick the bucket whose time has come is emptied, and whoever is still in it has
expired::

    time (ticks)  ──┬───────┬───────┬───────┬──▶
    buckets         {s1,s4}  {}      {s2}    {s3}
                    ▲ expires next   s2 is heard of: moves right
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.time import Time

_PASSWORD_BYTES = 16
_SUPER_SECRET = 0xB3415C00
_MASK_48 = (1 << 48) - 1


class SessionTracker:
    """The live sessions."""

    def __init__(self, time: Time, tick_time_ms: int, sessions: Mapping[int, int] | None = None) -> None:
        """``sessions`` (id → timeout, ms) were alive when the server stopped: each gets its full timeout once more."""
        self._time = time
        self._tick_time_ms = tick_time_ms
        self._timeouts_ms: dict[int, int] = {}
        self._bucket_of: dict[int, int] = {}
        self._buckets: dict[int, set[int]] = {}
        self._next_session_id = first_session_id(time.milliseconds())
        for session_id, timeout_ms in (sessions or {}).items():
            self.touch_session(session_id, timeout_ms)

    def create_session(self, timeout_ms: int) -> int:
        """A new session; returns its id, which was never used before."""
        # The clock may have gone back since an earlier life of this server.
        while self._next_session_id in self._timeouts_ms:
            self._next_session_id += 1
        session_id = self._next_session_id
        self._next_session_id += 1
        self.touch_session(session_id, timeout_ms)
        return session_id

    def touch_session(self, session_id: int, timeout_ms: int | None = None) -> bool:
        """The client was heard of; false when its session is gone. A ``timeout_ms`` is the session's from now on."""
        if timeout_ms is not None:
            self._timeouts_ms[session_id] = timeout_ms
        elif session_id not in self._timeouts_ms:
            return False
        bucket = int(self._time.hi_res_ms() + self._timeouts_ms[session_id]) // self._tick_time_ms + 1
        previous = self._bucket_of.get(session_id)
        if bucket != previous:
            self._leave_bucket(session_id)
            self._bucket_of[session_id] = bucket
            self._buckets.setdefault(bucket, set()).add(session_id)
        return True

    def remove_session(self, session_id: int) -> None:
        """The session is closed."""
        self._leave_bucket(session_id)
        self._timeouts_ms.pop(session_id, None)

    def is_tracking(self, session_id: int) -> bool:
        """Whether the session lives."""
        return session_id in self._timeouts_ms

    def timeout_ms(self, session_id: int) -> int:
        """The negotiated timeout of a live session."""
        return self._timeouts_ms[session_id]

    def expired_sessions(self) -> list[int]:
        """Whose bucket's time has come, the longest overdue first; the caller closes them."""
        tick = self._time.hi_res_ms() / self._tick_time_ms
        due = sorted(bucket for bucket in self._buckets if bucket <= tick)
        return [session_id for bucket in due for session_id in sorted(self._buckets[bucket])]

    def ms_until_next_expiry(self) -> float | None:
        """How long nothing can expire; None while there is no session."""
        if not self._buckets:
            return None
        return max(0.0, min(self._buckets) * self._tick_time_ms - self._time.hi_res_ms())

    def session_sets(self) -> dict[float, list[int]]:
        """Ms until expiry → sessions, for the four-letter word ``dump``."""
        now = self._time.hi_res_ms()
        return {bucket * self._tick_time_ms - now: sorted(ids) for bucket, ids in sorted(self._buckets.items())}

    def _leave_bucket(self, session_id: int) -> None:
        bucket = self._bucket_of.pop(session_id, None)
        if bucket is not None:
            self._buckets[bucket].discard(session_id)
            if not self._buckets[bucket]:
                del self._buckets[bucket]


def first_session_id(wall_ms: int, server_id: int = 0) -> int:
    """Where ids start in this life of the server: the clock in the middle, so that no two lives share one.

    ``| server id: 1 byte | low 40 bits of the wall clock in ms | 16 bits to count with |``
    """
    return server_id << 56 | (wall_ms & ((1 << 40) - 1)) << 16


def session_password(session_id: int) -> bytes:
    """The password of a session: 16 bytes that the server can compute again after a restart.

    As in ZooKeeper, where it is ``new java.util.Random(id ^ secret).nextBytes``: a real server that takes over the data
    directory takes over its sessions too. Guards against mistaken identity, not against an attacker.
    """
    state = ((session_id ^ _SUPER_SECRET) ^ 0x5DEECE66D) & _MASK_48
    password = b""
    while len(password) < _PASSWORD_BYTES:
        state = (state * 0x5DEECE66D + 0xB) & _MASK_48
        password += (state >> 16).to_bytes(4, "little")
    return password
