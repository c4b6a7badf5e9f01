"""A share partition under any sequence of fetches, acknowledgements, time, failing writes and changes of its leader."""

from __future__ import annotations

from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch
from kafka_lite.server.share.record_state import ACCEPT, GAP, REJECT, RELEASE
from kafka_lite.server.share.share_partition import ReadBatches, SharePartition
from tests.support.share_partitions import LOCK_MS, Batch, SharedLog

MEMBERS = ("a", "b", "c")
LIMIT = 3
WRITE_ERRORS = [Errors.COORDINATOR_NOT_AVAILABLE, Errors.UNKNOWN_SERVER_ERROR]
members = st.sampled_from(MEMBERS)


class ShareMachine(RuleBasedStateMachine):
    """Three members, a log that grows and loses its beginning, a persister that fails and delays, and leaders.

    The model is one line for each offset: who has it, until when, and which fates the persister may have.

    - A record is never acquired by two members at once, as long as the leader does not change.
    - A record whose acceptance or rejection was told to be written is never delivered again.
    - A record is delivered at most LIMIT times, if one does not count deliveries of which nothing was written: before
      the session was closed, or the leader changed.
    - In the end, every record that the log has is done with: accepted, rejected, or delivered LIMIT times.
    """

    @initialize(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5), locks=st.sampled_from([100, 6]))
    def begin(self, sizes: list[int], locks: int) -> None:
        """Begin with a few batches."""
        self.log = SharedLog(delivery_count_limit=LIMIT, partition_max_record_locks=locks)
        self.owner: dict[int, str] = {}
        """Offset → the member that may acknowledge it. Others may not."""
        self.deadline: dict[int, float] = {}
        self.deliveries: Counter[int] = Counter()
        self.done: set[int] = set()
        """Offsets whose end was told to be written."""
        self.pending: Counter[int] = Counter()
        """Offsets whose change is being written."""
        self.given_up: set[int] = set()
        """Offsets whose last lock has expired."""
        for size in sizes:
            self.append(size, 0)

    @rule(size=st.integers(1, 4), hole=st.integers(0, 2))
    def append(self, size: int, hole: int) -> None:
        """A producer appends a batch; offsets before it may be compacted away."""
        end = self.log.batches[-1].last_offset + 1 if self.log.batches else 0
        if end < 60:
            first = end + (hole if end else 0)
            self.log.batches.append(Batch(first, first + size - 1))

    @rule(member=members, max_records=st.integers(1, 12), max_batches=st.integers(1, 4), batch_size=st.integers(1, 9))
    def fetch(self, member: str, max_records: int, max_batches: int, batch_size: int) -> None:
        """A member fetches, as DelayedShareFetch does it."""
        partition = self.log.partition
        if not partition.can_acquire_records():
            return
        offset = partition.next_fetch_offset()
        start = self.log.batches[0].base_offset if self.log.batches else 0
        if offset < start:
            partition.update_log_start_offset(start)
            return
        read = ReadBatches(offset, self.log.read(offset, max_batches))
        now = self.log.time.hi_res_ms()
        for first, last, count in partition.acquire(member, read, max_records, batch_size):
            assert 1 <= count <= LIMIT, f"{first}-{last} is delivered for the {count}th time"
            for at in range(first, last + 1):
                assert at not in self.done, f"{at} is done with, and delivered again"
                assert self.deadline.get(at, 0) <= now or at not in self.owner, f"{at} is still {self.owner[at]}'s"
                assert count > self.deliveries[at], f"{at} is delivered for the {count}th time twice"
                self.owner[at], self.deadline[at], self.deliveries[at] = member, now + LOCK_MS, count

    @rule(member=members, begin=st.integers(0, 63), size=st.integers(1, 8), types=st.data())
    def acknowledge(self, member: str, begin: int, size: int, types: st.DataObject) -> None:
        """A member acknowledges offsets, its own or others, with one type or one for each."""
        kinds = st.sampled_from([ACCEPT, RELEASE, REJECT, GAP])
        said = types.draw(
            st.one_of(st.lists(kinds, min_size=1, max_size=1), st.lists(kinds, min_size=size, max_size=size))
        )
        self._acknowledge(member, begin, begin + size - 1, said)

    @rule(member=members, kind=st.sampled_from([ACCEPT, ACCEPT, RELEASE, REJECT]), pick=st.integers(0, 5))
    def acknowledge_own(self, member: str, kind: int, pick: int) -> None:
        """A member acknowledges one run of what it has."""
        own = sorted(at for at, owner in self.owner.items() if owner == member)
        if own:
            first = last = own[pick % len(own)]
            while last + 1 in own:
                last += 1
            self._acknowledge(member, first, last, [kind])

    def _acknowledge(self, member: str, first: int, last: int, said: list[int]) -> None:
        batch = ShareAcknowledgementBatch(first, last, said)
        start, _ = self.log.partition.offsets
        concerned = range(max(first, start), last + 1)
        self.pending.update(concerned)
        owned = {at for at in concerned if self.owner.get(at) == member}
        leader = self.log.partition

        def done(failure: ApiError | None) -> None:
            self.pending.subtract(concerned)
            if failure is None:
                assert all(at in owned or at in self._holes() for at in concerned), "records of others"
                for at in owned:
                    self._written(leader, at, batch.type_at(at))

        self.log.partition.acknowledge(member, [batch], done)

    def _holes(self) -> set[int]:
        batches = self.log.batches
        inside = {at for first, last in batches for at in range(first, last + 1)}
        return set(range(70)) - inside

    def _written(self, leader: SharePartition, at: int, said: int) -> None:
        if said != RELEASE or self.deliveries[at] >= LIMIT:
            self.done.add(at)
        if leader is self.log.partition:
            self.owner.pop(at, None)

    @rule(member=members)
    def close_session(self, member: str) -> None:
        """A member leaves; what it has was not delivered, if that can be written."""
        leader = self.log.partition

        def done(failure: ApiError | None) -> None:
            if failure is None and leader is self.log.partition:
                for at in own:
                    self.owner.pop(at, None)
                    self.deliveries[at] -= 1
            self.pending.subtract(own)

        own = [at for at, owner in self.owner.items() if owner == member and not self.pending[at]]
        self.pending.update(own)
        leader.release_acquired_records(member, done)

    @rule(ms=st.sampled_from([10, LOCK_MS // 2, LOCK_MS + 1]))
    def sleep(self, ms: int) -> None:
        """Time passes."""
        self.log.sleep(ms)
        now = self.log.time.hi_res_ms()
        for at in [at for at, deadline in self.deadline.items() if deadline < now]:
            if self.owner.pop(at, None) is not None and self.deliveries[at] >= LIMIT:
                self.given_up.add(at)

    @rule(error=st.sampled_from(WRITE_ERRORS))
    def fail_next_write(self, error: Errors) -> None:
        """The next write fails."""
        if len(self.log.persister.errors) < 2:
            self.log.persister.errors.append(error)

    @rule()
    def hold(self) -> None:
        """Responses of the persister take their time."""
        if self.log.persister._held is None:
            self.log.persister.hold()

    @rule()
    def release(self) -> None:
        """They come."""
        self.log.persister.release()

    @rule(batches=st.integers(1, 2))
    def lose_the_beginning(self, batches: int) -> None:
        """Retention deletes batches."""
        if len(self.log.batches) > batches:
            del self.log.batches[:batches]

    @rule()
    def change_leader(self) -> None:
        """Another broker leads. What was acquired, and not written, is as if it had not been delivered."""
        self.log.persister.release()
        self.log.persister.errors.clear()
        self.log.new_leader()
        self.owner.clear()
        self.deadline.clear()
        self.deliveries.clear()

    @invariant()
    def offsets_are_in_order(self) -> None:
        """The start offset never is beyond what is in flight."""
        start, end = self.log.partition.offsets
        assert start <= end + 1

    def teardown(self) -> None:
        """In the end every record is done with, and nobody waits for a lock."""
        if not hasattr(self, "log"):
            return
        self.log.persister.release()
        self.log.persister.errors.clear()
        end = self.log.batches[-1].last_offset + 1
        for _ in range(40):
            self.sleep(LOCK_MS + 1)
            self.fetch("a", 100, 100, 100)
            own = sorted(at for at, owner in self.owner.items() if owner == "a")
            for at in own:
                self._acknowledge("a", at, at, [ACCEPT])
            if self.log.partition.offsets[0] >= end:
                break
        start, _ = self.log.partition.offsets
        assert start >= end, f"records from {start} on are never delivered"
        kept = {at for first, last in self.log.batches for at in range(first, last + 1)}
        assert kept <= self.done | self.given_up, "records are done with, and nobody has said so"
        assert self.log.timer.size == 0, "a lock is held by nobody"
