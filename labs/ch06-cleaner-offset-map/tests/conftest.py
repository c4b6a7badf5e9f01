"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap

SLOT_BYTES = 24


class WrittenMap(SkimpyOffsetMap):
    """A map whose slots a test writes by hand."""

    def write(self, slot, key, offset):
        """Put a key into slot number ``slot``, wherever it belongs."""
        self.SLOT.pack_into(self._memory, slot * SLOT_BYTES, self._hash(key), offset)
        self._entries += 1

    def occupied(self):
        """The numbers of the slots that are in use."""
        return [slot for slot in range(self.slots) if not self._is_empty(slot * SLOT_BYTES)]


@pytest.fixture
def new_map():
    """``new_map(slots)``: an empty map."""
    return lambda slots=100: WrittenMap(slots * SLOT_BYTES)


@pytest.fixture
def hash_of():
    """The hash of a key, as the map computes it."""
    return SkimpyOffsetMap._hash
