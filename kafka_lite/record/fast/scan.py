"""The fast twin of ``record_scan.scan_records``: how the broker looks at every record that is produced.

The plain scan decodes each record. This one reads only the numbers of a record and steps over key and value. The
interpreter needs half a microsecond even for that, so there records that are alike are taken together (see ``alike``).
When mypyc has compiled this module, a record takes some 30 nanoseconds, and looking for runs would only cost time: this
is the one place where the two builds go different ways, since every append passes here.

Kafka 2.4: clients/.../common/record/PartialDefaultRecord.java · book 10.3
"""

from __future__ import annotations

from typing import Final

from kafka_lite.record.default_record import decode_record, skip_headers
from kafka_lite.record.fast.alike import find_run
from kafka_lite.record.record import InvalidRecordError
from kafka_lite.record.record_scan import MAX_OUT_OF_ORDER, RecordScan, check_order, raise_rest

_COMPILED: Final = not __file__.endswith(".py")
_NULL: Final = 1  # the length -1, as it is stored
_ODD_OR_LONGER: Final = 0x4001  # bits of a negative number, and of one with a third byte
_SHORT_RUN: Final = 8
_FEW: Final = 8  # so many records of the length of the one before may be a run
_WORTH_A_LOOK: Final = 12  # fewer records are read faster one by one, whatever they are


def scan_records(data: bytes, record_count: int) -> RecordScan:
    """Check that ``data`` is ``record_count`` records, and sum them up; see ``record_scan.scan_records``."""
    scanner = _Scanner(data, record_count)
    scanner.scan()
    if record_count <= 0:
        scanner.oldest = scanner.newest = 0
    return RecordScan(scanner.oldest, scanner.newest, scanner.consecutive, scanner.first_null_key)


class _Scanner:
    """One scan: where it is, and what it has found so far."""

    def __init__(self, data: bytes, record_count: int) -> None:
        self.data = data
        self.record_count = record_count
        self.position = self.index = 0
        self.oldest: int = 1 << 64
        self.newest: int = -1 << 64
        self.consecutive = True
        self.first_null_key: int | None = None

    def scan(self) -> None:
        look_for_runs = not _COMPILED and self.record_count >= _WORTH_A_LOOK
        while self.index < self.record_count:
            if look_for_runs and self._add_alike() >= _SHORT_RUN:
                continue
            if not self._add_usual() and self.index < self.record_count:
                self._add_any()
        if self.position != len(self.data):
            raise_rest(self.data, self.position, self.record_count)

    def _add_alike(self) -> int:
        """Take the records from here on that are alike; how many there were."""
        remaining = self.record_count - self.index
        run = find_run(self.data, self.position, self.index, remaining) if remaining >= _WORTH_A_LOOK else None
        if run is None:
            return 0
        self.oldest = min(self.oldest, run.min_timestamp_delta)
        self.newest = max(self.newest, run.max_timestamp_delta)
        if not run.has_key and self.first_null_key is None:
            self.first_null_key = self.index
        self.index += run.record_count
        self.position = run.end
        return run.record_count

    def _add_any(self) -> None:
        """Take one record, whatever it is like."""
        timestamp_delta, offset_delta, key, _, _, self.position = decode_record(self.data, self.position)
        self.oldest = min(self.oldest, timestamp_delta)
        self.newest = max(self.newest, timestamp_delta)
        if offset_delta != self.index:
            self.consecutive = False
            check_order(self.record_count)
        if key is None and self.first_null_key is None:
            self.first_null_key = self.index
        self.index += 1

    def _add_usual(self) -> bool:
        """Take records until one is in any way unusual, or a run seems to begin; returns whether that is the reason.

        The loop handles records that have a value, whose key is shorter than 64 bytes and whose other numbers take up
        to two bytes (offset deltas: three). Numbers stay as they are stored, twice what they mean; a negative one is
        odd.
        """
        data, position, count, compiled = self.data, self.position, self.record_count, _COMPILED
        consecutive, first_null_key = self.consecutive, self.first_null_key
        least, most, last_delta = 0x4000, -1, -1
        last_length, repeated = -1, 0
        is_at_run = False
        index = self.index
        try:
            for index in range(self.index, count):
                length, at = data[position], position + 1
                if length >= 0x80:
                    length, at = length & 0x7F | data[at] << 7, at + 1
                if not compiled and length == last_length:
                    repeated += 1
                    if repeated == _FEW and count - index >= _WORTH_A_LOOK:
                        is_at_run = True
                        break
                last_length = length
                end = at + (length >> 1)
                delta, at = data[at + 1], at + 2  # behind the attributes
                if delta >= 0x80:
                    delta, at = delta & 0x7F | data[at] << 7, at + 1
                offset, at = data[at], at + 1
                if offset >= 0x80:
                    offset, at = offset & 0x7F | data[at] << 7, at + 1
                    if offset >= 0x4000:
                        offset, at = offset & 0x3FFF | data[at] << 14, at + 1
                key_length = data[at]
                at += (key_length >> 1) + 1
                value_length, at = data[at], at + 1
                if value_length >= 0x80:
                    value_length, at = value_length & 0x7F | data[at] << 7, at + 1
                at += value_length >> 1
                if (length | delta | value_length) & _ODD_OR_LONGER or (key_length & 0x81 and key_length != _NULL):
                    break  # of a longer number nothing is known yet
                if (at + 1 != end or data[at]) and (at >= end or skip_headers(data, at) != end or end > len(data)):
                    break
                if offset != index << 1 or offset >= 0x200000:
                    if offset & 1 or offset >= 0x200000 or count > MAX_OUT_OF_ORDER:
                        break
                    consecutive = False
                if key_length == _NULL and first_null_key is None:
                    first_null_key = index
                if delta != last_delta:
                    last_delta = delta
                    least, most = min(least, delta), max(most, delta)
                position = end
            else:
                index = count
        except (IndexError, InvalidRecordError):
            is_at_run = False  # the data is cut short or broken, and the plain decoder will say how
        if most >= 0:
            self.oldest, self.newest = min(self.oldest, least >> 1), max(self.newest, most >> 1)
        self.position, self.index, self.consecutive, self.first_null_key = position, index, consecutive, first_null_key
        return is_at_run
