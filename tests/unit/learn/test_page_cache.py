"""The chapter's claims about the page cache are true on this kernel."""

import pytest

from chapters.ch01_introduction.figures.disk_measurements import stages_of_a_write, write_back
from chapters.ch01_introduction.figures.page_cache import dirty_kb, page_cache_state, write_back_settings


def test_every_written_page_is_in_memory(tmp_path):
    with (tmp_path / "file").open("w+b", buffering=0) as file:
        file.write(bytes(10 * 4096))
        state = page_cache_state(file.fileno())
        if state is None:
            pytest.skip("cachestat came with Linux 6.5")
        assert state.cached == 10


def test_after_a_sync_all_pages_are_cached_and_none_is_dirty(tmp_path):
    written, synced, dropped, _read = [state for _, state in stages_of_a_write(tmp_path)]
    if written is None:
        pytest.skip("cachestat came with Linux 6.5")
    assert synced.dirty == synced.write_back == 0
    assert synced.cached == written.cached == 1024
    assert dropped.cached <= synced.cached
    assert list(tmp_path.iterdir()) == []


def test_dirty_pages_are_sampled_from_the_start(tmp_path):
    series = write_back(tmp_path, seconds=0.05, size=1 << 20)
    assert all(line[0][0] < 0.05 for line in series.values())
    assert list(tmp_path.iterdir()) == []


def test_the_kernels_write_back_settings_are_read():
    assert dirty_kb() >= 0
    assert set(write_back_settings()) >= {"dirty_expire_centisecs", "dirty_writeback_centisecs"}
