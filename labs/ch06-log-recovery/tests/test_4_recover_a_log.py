"""Task 4: from the recovery point on, up to the first damage."""

import pytest

SIZE = 205  # of a batch of three messages in format v2


def three(write_segment):
    """Segments 20, 32 and 44, four batches each."""
    return [write_segment(base_offset) for base_offset in (20, 32, 44)]


def base_offsets(loader):
    return [segment.base_offset for segment in loader._segments]


@pytest.mark.points(5, task=4)
def test_which_segments_are_read(write_segment, loader, recovered):
    """Only from the segment that contains the recovery point"""
    three(write_segment)
    for point, want in ((44, [44]), (40, [32, 44]), (0, [20, 32, 44])):
        recovered.clear()
        log = loader(recovery_point=point, segments=(20, 32, 44))
        log._recover_unflushed_segments()
        assert recovered != [s for s in (20, 32, 44) if s >= point] or recovered == want, (
            f"recovery point {point}: it lies within segment {want[0]}, whose later messages may not be on disk: {want}"
        )
        assert recovered == want, f"recovery point {point}: segments {want} are read, in this order; yours: {recovered}"
        assert base_offsets(log) == [20, 32, 44], f"nothing was wrong, all three segments stay: {base_offsets(log)}"


@pytest.mark.points(6, task=4)
def test_the_log_ends_at_the_first_bad_batch(write_segment, loader, damage, recovered):
    """Damage in the second of three segments"""
    files = three(write_segment)
    damage(files[1], 2 * SIZE + 100)
    log = loader(segments=(20, 32, 44))
    log._recover_unflushed_segments()
    assert base_offsets(log) != [20, 32, 44], "offsets 38 to 43 are gone, but 44 is still there: the log has a gap"
    assert base_offsets(log) != [20], (
        "segment 32 has two valid batches: it stays, truncated; only newer segments are removed"
    )
    assert base_offsets(log) == [20, 32], f"segments 20 and 32 are left, not {base_offsets(log)}"
    assert files[1].stat().st_size == 2 * SIZE, "the damaged segment keeps its two valid batches"
    assert not files[2].exists(), "a segment that is removed from the log must lose its files, too, or it returns"
    assert recovered == [20, 32], f"after the damage nothing more must be read, but you recovered {recovered}"


@pytest.mark.points(3, task=4)
def test_all_newer_segments_are_removed(write_segment, loader, damage):
    """Damage in the first of three segments"""
    files = three(write_segment)
    damage(files[0], 100)
    log = loader(segments=(20, 32, 44))
    log._recover_unflushed_segments()
    assert base_offsets(log) == [20], (
        f"both newer segments are removed, and the first stays, empty: not {base_offsets(log)}"
    )


@pytest.mark.points(3, task=4)
def test_producer_state_is_truncated_there(write_segment, loader):
    """Producer state beyond the recovery point"""
    three(write_segment)
    log = loader(recovery_point=40, segments=(20, 32, 44))
    asked = []
    log._producer_state.truncate_and_reload = lambda *args: asked.append(args[:2])
    log._recover_unflushed_segments()
    why = "a snapshot may contain batches that never reached the disk"
    assert asked == [(0, 32)], f"truncate_and_reload(0, 32, now) once: {why}; you called it with {asked}"


@pytest.mark.points(2, task=4)
def test_what_a_segment_is_recovered_with(write_segment, loader, recovered_with):
    """Epochs and transactions"""
    three(write_segment)
    log = loader(recovery_point=40, segments=(20, 32, 44))
    log._leader_epoch_cache = object()
    log._recover_unflushed_segments()
    for base_offset, (epochs, transactions) in recovered_with.items():
        assert epochs is log._leader_epoch_cache, f"new epochs of segment {base_offset} go into the cache: pass it on"
        assert transactions is not None, (
            f"the transaction index of segment {base_offset} is rebuilt: pass the transactions that are open (see "
            "_transactions_at)"
        )


@pytest.mark.points(1, task=4)
def test_nothing_to_recover(loader):
    """A log without a segment"""
    log = loader()
    log._recover_unflushed_segments()
    assert base_offsets(log) == [], "there is no segment: nothing to do, and no error"
