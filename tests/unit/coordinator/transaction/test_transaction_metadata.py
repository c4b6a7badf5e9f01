import dataclasses
from collections.abc import Callable

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_metadata import (
    MAX_EPOCH,
    IllegalTransitionError,
    TransactionMetadata,
    TxnTransitMetadata,
    new_transactional_id,
)
from kafka_lite.coordinator.transaction.transaction_state import VALID_PREVIOUS_STATES, TransactionState

S = TransactionState
A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


def in_state(state: TransactionState, **changes: object) -> TransactionMetadata:
    first = new_transactional_id(7, 1000, now_ms=100)
    current = dataclasses.replace(first, producer_epoch=3, state=state)
    return TransactionMetadata("id", dataclasses.replace(current, **changes))


Prepare = Callable[[TransactionMetadata], TxnTransitMetadata | None]
TRANSITIONS: list[tuple[TransactionState, Prepare]] = [
    (S.EMPTY, lambda m: m.prepare_increment_producer_epoch(1000, None, 200)),
    (S.EMPTY, lambda m: m.prepare_producer_id_rotation(8, 1000, 200, remember_last_epoch=True)),
    (S.ONGOING, lambda m: m.prepare_add_partitions([A0], 200)),
    (S.PREPARE_COMMIT, lambda m: m.prepare_abort_or_commit(S.PREPARE_COMMIT, 200)),
    (S.PREPARE_ABORT, lambda m: m.prepare_abort_or_commit(S.PREPARE_ABORT, 200)),
    (S.PREPARE_EPOCH_FENCE, lambda m: m.prepare_fence_producer_epoch(200)),
    (S.DEAD, lambda m: m.prepare_dead(200)),
]


@pytest.mark.parametrize("state", S)
@pytest.mark.parametrize(("target", "prepare"), TRANSITIONS)
def test_a_transition_is_prepared_in_the_states_of_the_table_only(
    state: TransactionState, target: TransactionState, prepare: Prepare
) -> None:
    metadata = in_state(state)
    if state in VALID_PREVIOUS_STATES[target]:
        transit = prepare(metadata)
        assert transit is not None
        assert transit.state is metadata.pending_state is target
        assert metadata.state is state
    else:
        with pytest.raises(IllegalTransitionError):
            prepare(metadata)
        assert metadata.pending_state is None


@pytest.mark.parametrize(("target", "prepare"), TRANSITIONS)
def test_no_second_transition_begins_while_one_is_pending(target: TransactionState, prepare: Prepare) -> None:
    state = min(VALID_PREVIOUS_STATES[target])
    metadata = in_state(state)
    prepare(metadata)
    with pytest.raises(IllegalTransitionError):
        prepare(metadata)
    metadata.cancel()
    assert prepare(metadata) is not None


@pytest.mark.parametrize(
    ("epoch", "last_epoch", "expected", "result"),
    [
        # current, before the last change, of the request  →  new, and the one that a retry names
        (-1, -1, None, (0, -1)),
        (-1, -1, 5, (0, -1)),
        (3, -1, None, (4, -1)),
        (3, 2, None, (4, -1)),
        (3, -1, 3, (4, 3)),
        (3, 2, 3, (4, 3)),
        (3, 2, 2, (3, 2)),
        (3, -1, 2, None),
        (3, 2, 1, None),
        (3, 2, 4, None),
        (MAX_EPOCH - 1, MAX_EPOCH - 2, MAX_EPOCH - 2, (MAX_EPOCH - 1, MAX_EPOCH - 2)),
    ],
)
def test_epoch_of_a_starting_producer(
    epoch: int, last_epoch: int, expected: int | None, result: tuple[int, int] | None
) -> None:
    metadata = in_state(S.EMPTY, producer_epoch=epoch, last_producer_epoch=last_epoch)
    transit = metadata.prepare_increment_producer_epoch(2000, expected, 200)
    if transit is None:
        assert result is None
        assert metadata.pending_state is None
    else:
        assert (transit.producer_epoch, transit.last_producer_epoch) == result
        assert (transit.producer_id, transit.timeout_ms, transit.last_update_timestamp_ms) == (7, 2000, 200)


def test_rotation_gives_another_id_and_remembers_the_last_one() -> None:
    metadata = in_state(S.COMPLETE_COMMIT, producer_epoch=MAX_EPOCH - 1)
    assert metadata.is_producer_epoch_exhausted
    transit = metadata.prepare_producer_id_rotation(8, 1000, 200, remember_last_epoch=True)
    metadata.complete(transit)
    assert (metadata.current.producer_id, metadata.current.producer_epoch) == (8, 0)
    assert (metadata.current.last_producer_id, metadata.current.last_producer_epoch) == (7, MAX_EPOCH - 1)
    assert not metadata.is_producer_epoch_exhausted


def test_the_first_partitions_begin_the_transaction_and_others_join_it() -> None:
    metadata = in_state(S.EMPTY)
    metadata.complete(metadata.prepare_add_partitions([A0], 200))
    metadata.complete(metadata.prepare_add_partitions([A1], 300))
    assert metadata.state is S.ONGOING
    assert metadata.current.topic_partitions == {A0, A1}
    assert (metadata.current.start_timestamp_ms, metadata.current.last_update_timestamp_ms) == (200, 300)


def test_a_committed_transaction_ends_once_its_partitions_have_markers() -> None:
    metadata = in_state(S.ONGOING, topic_partitions=frozenset({A0, A1}), start_timestamp_ms=150)
    metadata.complete(metadata.prepare_abort_or_commit(S.PREPARE_COMMIT, 200))
    end = metadata.prepare_complete(210)
    metadata.remove_partitions([A1])
    assert metadata.current.topic_partitions == {A0}
    metadata.remove_partitions([A0])
    metadata.complete(end)
    assert (metadata.state, metadata.current.topic_partitions) == (S.COMPLETE_COMMIT, frozenset())


def test_a_fence_raises_the_epoch_once_even_if_its_append_fails() -> None:
    metadata = in_state(S.ONGOING)
    fence = metadata.prepare_fence_producer_epoch(200)
    assert fence.producer_epoch == 4
    metadata.take_fenced_epoch(fence.producer_epoch)
    abort = metadata.prepare_abort_or_commit(S.PREPARE_ABORT, 200)
    assert abort.producer_epoch == 4
    metadata.cancel()
    metadata.has_failed_epoch_fence = True
    assert metadata.prepare_fence_producer_epoch(300).producer_epoch == 4


def test_a_failed_fence_is_forgotten_when_the_transaction_ends() -> None:
    metadata = in_state(S.PREPARE_ABORT)
    metadata.has_failed_epoch_fence = True
    metadata.complete(metadata.prepare_complete(200))
    metadata.complete(metadata.prepare_add_partitions([A0], 300))
    assert metadata.prepare_fence_producer_epoch(400).producer_epoch == metadata.current.producer_epoch + 1


def test_the_last_epoch_is_left_for_the_fence() -> None:
    metadata = in_state(S.ONGOING, producer_epoch=MAX_EPOCH - 1)
    fence = metadata.prepare_fence_producer_epoch(200)
    assert fence.producer_epoch == MAX_EPOCH
    metadata.cancel()
    metadata.take_fenced_epoch(MAX_EPOCH)
    with pytest.raises(IllegalTransitionError):
        metadata.prepare_fence_producer_epoch(200)


def test_completing_a_transition_that_is_not_pending_is_refused() -> None:
    metadata = in_state(S.EMPTY)
    transit = metadata.prepare_add_partitions([A0], 200)
    metadata.cancel()
    with pytest.raises(IllegalTransitionError):
        metadata.complete(transit)
    assert metadata.state is S.EMPTY


@pytest.mark.parametrize(("now_ms", "timed_out"), [(1150, False), (1151, True)])
def test_an_open_transaction_times_out(now_ms: int, timed_out: bool) -> None:
    metadata = in_state(S.ONGOING, start_timestamp_ms=150)
    assert metadata.is_timed_out(now_ms) is timed_out
    metadata.prepare_add_partitions([A0], 200)
    assert not metadata.is_timed_out(now_ms)
    assert not in_state(S.PREPARE_COMMIT, start_timestamp_ms=150).is_timed_out(now_ms)


def test_names_of_states_are_those_of_kafkas_tools() -> None:
    assert [state.title for state in S] == [
        "Empty",
        "Ongoing",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
        "Dead",
        "PrepareEpochFence",
    ]
