"""Helpers that the tests of this lab share."""

import struct

import pytest

from kafka_lite.log.offset_index import OffsetIndex


class WatchedIndex(OffsetIndex):
    """Notes whether the mapping was used without the lock, from ``watched`` on."""

    watched = False
    without_lock = False

    @property
    def _mmap(self):
        self.without_lock |= self.watched and not self._lock._is_owned()
        return super()._mmap


@pytest.fixture
def must_lock(tmp_path):
    """``must_lock("lookup", lambda index: …)``: the function uses the mapping of an index only with its lock held."""

    def check(name, function):
        file = tmp_path / "00000000000000000100.index"
        file.write_bytes(struct.pack(">iiii", 3, 300, 6, 600))
        index = WatchedIndex(file, 100, max_index_size=80)
        index.resize(80)
        index.watched = True
        function(index)
        assert not index.without_lock, (
            f"{name} used the mapping without the lock: a roll that resizes it at that moment would kill the process; "
            "take self._lock"
        )

    return check


@pytest.fixture
def index_with(tmp_path):
    """``index_with([(3, 300), …], base_offset=0)``: an OffsetIndex over a file with just these stored entries."""

    def make(stored, base_offset=0, room_for=0):
        file = tmp_path / f"{base_offset:020d}.index"
        data = b"".join(struct.pack(">ii", relative_offset, position) for relative_offset, position in stored)
        file.write_bytes(data)
        index = OffsetIndex(file, base_offset, max_index_size=max(8 * room_for, len(data), 8))
        if room_for:
            index.resize(8 * room_for)
        return index

    return make


@pytest.fixture
def new_index(tmp_path):
    """``new_index(base_offset, room_for)``: an empty OffsetIndex, as in a new segment."""

    def make(base_offset=0, room_for=100):
        return OffsetIndex(tmp_path / f"{base_offset:020d}.index", base_offset, max_index_size=8 * room_for)

    return make
