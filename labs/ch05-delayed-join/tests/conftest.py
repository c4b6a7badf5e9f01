"""What the tests of this lab share: a rebalancer without a broker, and members that do what a test says."""

import contextlib

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.errors import Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.purgatory.timer import SystemTimer
from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.group.group_config import GroupConfig
from kafka_lite.coordinator.group.group_lock import GroupLock
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_rebalancer import GroupRebalancer
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import MemberMetadata

STEP_MS = 500


class Timer(SystemTimer):
    """A timer that does not swallow exceptions of tasks: the test must see them."""

    @staticmethod
    def _run(task):
        task.run()


class Lock(GroupLock):
    """A group's lock that knows whether it is held."""

    @property
    def is_held(self):
        return self._depth > 0


@contextlib.contextmanager
def looked_at(metadata, name):
    """Within the block, notes of each look at this attribute of a group whether the group's lock is held."""
    held, real = [], type(metadata)

    class Watched(real):
        def __getattribute__(self, attribute):
            if attribute == name:
                held.append(super().__getattribute__("lock").is_held)
            return super().__getattribute__(attribute)

    metadata.__class__ = Watched
    try:
        yield held
    finally:
        metadata.__class__ = real


@pytest.fixture(name="looked_at")
def fixture_looked_at():
    return looked_at


class Rebalancer(GroupRebalancer):
    """Your rebalancer. If ``begun`` is a list, it only records that a generation would begin."""

    begun = None

    def __init__(self, *args):
        super().__init__(*args)
        self.waits_ms = []
        """The delay of each DelayedJoin."""

    def watch_join(self, delayed_join):
        self.waits_ms.append(delayed_join.delay_ms)
        super().watch_join(delayed_join)

    def on_complete_join(self, group):
        if self.begun is None:
            super().on_complete_join(group)
        else:
            self.begun.append(group.group_id)


class Member:
    """A client: its requests, and its last response."""

    def __init__(self, group, name, instance, rebalance_timeout_ms, session_timeout_ms):
        self.metadata = MemberMetadata(
            name, instance, name, "/host", rebalance_timeout_ms, session_timeout_ms, "consumer", [("range", b"")]
        )
        self.answer = None
        """``generation 1, leads a b``, ``generation 1``, ``part``, or the name of an error."""
        self._group = group

    def joins(self):
        """Its JoinGroup arrives and waits for a response: the coordinator's handling of a member."""
        self.answer, group = None, self._group.metadata
        with group.lock:
            if group.has(self.metadata.member_id):
                group._set_join_callback(self.metadata, self._joined)
                self._group.rebalancer.maybe_prepare_rebalance(group, "joins again")
            else:
                self._group.rebalancer.add_member_and_rebalance(group, self.metadata, self._joined, "is new")
            if group.is_in(GroupState.PREPARING_REBALANCE):
                self._group.rebalancer.check_join(group)
        return self

    def has_joined(self):
        """Its JoinGroup waits, and has not been checked yet."""
        self._group.metadata._set_join_callback(self.metadata, self._joined)
        return self

    def waits_for_its_part(self):
        """Its SyncGroup waits."""
        self.metadata.awaiting_sync_callback = self._synced
        return self

    def _joined(self, response):
        members = " ".join(each.member_id for each in response.members)
        said = f"generation {response.generation_id}" + (f", leads {members}" if members else "")
        self._answered(response, said)

    def _synced(self, response):
        self._answered(response, "part")

    def _answered(self, response, said):
        error = Errors.for_code(response.error_code)
        self.answer = said if error is Errors.NONE else error.name


class Group:
    """A group, its rebalancer with both purgatories, and a clock that the test moves."""

    def __init__(self, delay_ms):
        self.time = MockTime()
        self.metadata = self.another("readers")
        self.heartbeats, self.rebalances = (
            DelayedOperationPurgatory(name, timer=Timer(time=self.time), reaper_enabled=False)
            for name in ("Heartbeat", "Rebalance")
        )
        config = GroupConfig(
            min_session_timeout_ms=0, max_session_timeout_ms=300_000, max_size=100, initial_rebalance_delay_ms=delay_ms
        )
        self.rebalancer = Rebalancer(config, self, self.heartbeats, self.rebalances)
        self.stored = []
        """What was written to the log: the generation, and each member's assignment."""

    def another(self, group_id):
        """The metadata of a group."""
        metadata = GroupMetadata(group_id, self.time)
        metadata.lock = Lock()
        return metadata

    def store_group(self, group, assignment, _respond):
        """Replaces the GroupMetadataManager."""
        self.stored.append((group.generation_id, dict(assignment)))

    def client(self, name, instance=None, rebalance_timeout_ms=60_000, session_timeout_ms=10_000):
        """A client that is no member yet."""
        return Member(self, name, instance, rebalance_timeout_ms, session_timeout_ms)

    def member(self, name, *args, **timeouts):
        """A client that is a member already, with a session; its JoinGroup does not wait."""
        member = self.client(name, *args, **timeouts)
        self.metadata.add(member.metadata)
        self.rebalancer.schedule_next_heartbeat_expiration(self.metadata, member.metadata)
        return member

    def is_now(self, state, generation_id=None):
        """Put the group into a state, as if everything that leads there had happened."""
        self.metadata.state = GroupState[state]
        if generation_id is not None:
            self.metadata.generation_id = generation_id
            self.metadata.protocol_name = "range"

    @property
    def state(self):
        return self.metadata.state.name

    @property
    def generation(self):
        return self.metadata.generation_id

    def pass_time(self, ms):
        """Advance the clock in small steps; after each, everything due is run."""
        while ms > 0:
            step_ms = min(ms, STEP_MS)
            self.time.sleep(step_ms)
            for purgatory in (self.heartbeats, self.rebalances):
                purgatory.advance_clock(0)
            ms -= step_ms


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def make_group():
    """``make_group(delay_ms=3000)``: a group whose first rebalance waits this long for others."""
    return lambda delay_ms=0: Group(delay_ms)


@pytest.fixture
def group(make_group):
    """A group without members, and without an initial delay."""
    return make_group()
