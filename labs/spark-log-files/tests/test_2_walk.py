"""Task 2: from header to header, without reading the records."""

import io

import pytest

from pipeline.tables.log_files import OldFormatError, read_headers


class CountingFile(io.BytesIO):
    """Counts the bytes that are read."""

    read_bytes = 0

    def read(self, size=-1):
        data = super().read(size)
        self.read_bytes += len(data)
        return data


def walk(data):
    try:
        return list(read_headers(io.BytesIO(data), len(data)))
    except OldFormatError:
        pytest.fail("zeros are no old message but room that is not used yet: look at the length before the magic")
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the file is as a killed broker leaves it
        pytest.fail(f"a killed broker leaves such a file; the walk ends there, and raises no {type(error).__name__}")


@pytest.mark.points(4, task=2)
def test_every_batch_of_a_segment(batch):
    """100 batches of different sizes"""
    parts = [batch(offset, 1 + offset % 7) for offset in range(0, 1000, 10)]
    got = [(header.position, header.base_offset) for header in walk(b"".join(parts))]
    want = [(sum(map(len, parts[:number])), number * 10) for number in range(100)]
    wrong = next((pair for pair in zip(got, want, strict=False) if pair[0] != pair[1]), None)
    assert wrong is None, f"the batch {wrong[1]} (position, base offset) comes next, not {wrong[0]}"
    assert len(got) == 100, f"there are 100 batches, you found {len(got)}"


@pytest.mark.points(4, task=2)
def test_records_are_skipped(batch):
    """Only headers are read"""
    data = b"".join(batch(offset, 500) for offset in range(0, 10_000, 500))
    file = CountingFile(data)
    assert len(list(read_headers(file, len(data)))) == 20
    assert file.read_bytes <= 30 * 61, f"20 headers are 1220 bytes; you read {file.read_bytes} of {len(data)}: seek"


@pytest.mark.parametrize("kept", [200, 61, 60, 12, 5, 1])
@pytest.mark.points(1, task=2)
def test_an_incomplete_batch_at_the_end(batch, kept):
    """A torn end, bytes left"""
    whole, torn = batch(0), batch(3)
    found = walk(whole + torn[:kept])
    assert len(found) == 1, (
        f"only the first {kept} bytes of the second batch are in the file: it is not complete, and the walk has one "
        f"batch, not {len(found)}"
    )


@pytest.mark.points(3, task=2)
def test_preallocated_room(batch):
    """Zeros behind the last batch"""
    found = walk(batch(0) + bytes(5000))
    assert len(found) == 1, f"one batch and 5000 zeros: one batch, not {len(found)}"
