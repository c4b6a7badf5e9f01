"""Tracks live sessions, and expires those whose clients are silent for too long.

ZooKeeper 3.8: zookeeper-server/.../server/SessionTrackerImpl.java, ExpiryQueue.java · book 7.1.1

Deadlines are rounded up to the next tick, and sessions with the same tick share a bucket. Each message from a client
moves its session to a later bucket; once per tick the bucket that is due is emptied, and the sessions still in it
expire::

    time (ticks)  ──┬───────┬───────┬───────┬──▶
    buckets         {s1,s4}  {}      {s2}    {s3}
                    ▲ expires next   s2 sends a message: moves right
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
        """``sessions`` (id → timeout, ms) were alive when the server stopped: each gets its full timeout again."""
        self._time = time
        self._tick_time_ms = tick_time_ms
        self._timeouts_ms: dict[int, int] = {}
        self._bucket_of: dict[int, int] = {}
        self._buckets: dict[int, set[int]] = {}
        self._next_session_id = first_session_id(time.milliseconds())
        for session_id, timeout_ms in (sessions or {}).items():
            self.touch_session(session_id, timeout_ms)

    def create_session(self, timeout_ms: int) -> int:
        """Create a session. Returns its id, which has never been used before."""
        # The clock may have been set back since an earlier run of this server.
        while self._next_session_id in self._timeouts_ms:
            self._next_session_id += 1
        session_id = self._next_session_id
        self._next_session_id += 1
        self.touch_session(session_id, timeout_ms)
        return session_id

    def touch_session(self, session_id: int, timeout_ms: int | None = None) -> bool:
        """Extend a session; ``timeout_ms`` sets its timeout. Returns False if the session has expired."""
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
        """Remove a closed session."""
        self._leave_bucket(session_id)
        self._timeouts_ms.pop(session_id, None)

    def is_tracking(self, session_id: int) -> bool:
        """Whether the session is alive."""
        return session_id in self._timeouts_ms

    def timeout_ms(self, session_id: int) -> int:
        """The negotiated timeout of a live session."""
        return self._timeouts_ms[session_id]

    def expired_sessions(self) -> list[int]:
        """The sessions that have expired, longest overdue first; the caller must close them."""
        tick = self._time.hi_res_ms() / self._tick_time_ms
        due = sorted(bucket for bucket in self._buckets if bucket <= tick)
        return [session_id for bucket in due for session_id in sorted(self._buckets[bucket])]

    def ms_until_next_expiry(self) -> float | None:
        """How long until a session can expire, or None if there are none."""
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
    """The first session id of this run: it contains the clock, so that no two runs share ids.

    ``| server id: 1 byte | low 40 bits of the wall clock in ms | 16-bit counter |``
    """
    return server_id << 56 | (wall_ms & ((1 << 40) - 1)) << 16


def session_password(session_id: int) -> bytes:
    """The password of a session: 16 bytes that the server can compute again after a restart.

    As in ZooKeeper, it is ``new java.util.Random(id ^ secret).nextBytes``, so a real server that takes over the data
    directory also takes over the sessions. It prevents mix-ups, not attacks.
    """
    state = ((session_id ^ _SUPER_SECRET) ^ 0x5DEECE66D) & _MASK_48
    password = b""
    while len(password) < _PASSWORD_BYTES:
        state = (state * 0x5DEECE66D + 0xB) & _MASK_48
        password += (state >> 16).to_bytes(4, "little")
    return password
