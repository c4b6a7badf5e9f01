"""What the tests of this lab share: batches that kafka_lite's own encoder wrote."""

import struct

import pytest

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder


@pytest.fixture
def batch():
    """``batch(base_offset, count, codec="none", **builder_options)``: the bytes of a batch of ``count`` records."""

    def build(base_offset, count=3, codec="none", step=1, **options):
        builder = MemoryRecordsBuilder(2, CompressionType[codec.upper()], base_offset=base_offset, **options)
        for number in range(count):
            offset = base_offset + number * step
            builder.append(1_000_000 + offset, f"key {offset}".encode(), b"value " * 10, offset=offset)
        return builder.build()

    return build


@pytest.fixture
def log_folder(tmp_path):
    """``log_folder({"flights-0": {0: [batch, …]}}, indexes)``: a data directory with these segments."""

    def write(partitions, indexes=None):
        for name, segments in partitions.items():
            (tmp_path / name).mkdir(exist_ok=True)
            for base_offset, data in segments.items():
                (tmp_path / name / f"{base_offset:020d}.log").write_bytes(b"".join(data))
        for (name, base_offset), entries in (indexes or {}).items():
            data = b"".join(struct.pack(">ii", offset - base_offset, position) for offset, position in entries)
            (tmp_path / name / f"{base_offset:020d}.index").write_bytes(data)
        return tmp_path

    return write
