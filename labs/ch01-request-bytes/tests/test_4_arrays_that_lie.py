"""Task 4: a count, and that many elements, unless the frame cannot have so many."""

import tracemalloc
from uuid import UUID

import pytest

from kafka_lite.protocol.wire_types import BYTES, INT8, INT64, RECORDS, STRING, Array, StructType, minimum_size
from kafka_lite.protocol.wire_types import UUID as UUID_TYPE

ID = UUID(int=5)
PLAIN = "00000002 00000001 00000002  00000001 0001 61  00000001 0001 62 00000007  00000001" + ID.hex
COMPACT = "03 00000001 00000002  02 02 61  02 02 62 00000007 00  02" + ID.hex


@pytest.mark.points(6, task=4)
def test_arrays_of_each_kind(messages, read):
    """Numbers, strings, structs, ids, and null"""
    for version, text in ((0, PLAIN + "ffffffff"), (1, COMPACT + "00 00")):
        lists, end = read(messages.Lists, version, text)
        got = (lists.numbers, lists.names, [(each.name, each.number) for each in lists.pairs], lists.ids, lists.maybe)
        wanted = ([1, 2], ["a"], [("b", 7)], [ID], None)
        assert got == wanted, f"version {version}: {wanted}; yours: {got}"
        assert end == len(bytes.fromhex(text)), f"version {version}: the message ends with its bytes, not at {end}"
    lists, _ = read(messages.Lists, 0, "00000000" * 4 + "00000003 010203")
    assert (lists.numbers, lists.maybe) == ([], [1, 2, 3]), f"none, and three; yours: {lists.numbers}, {lists.maybe}"


@pytest.mark.points(5, task=4)
def test_counts_that_lie(messages, refused, decode, read):
    """Two thousand million elements in a frame of 20 bytes"""
    tracemalloc.start()
    try:
        for version, text, field in (
            (0, "7fffffff 00000001", "numbers"),
            (0, "00000003 00000001 00000002", "numbers"),
            (0, "ffffffff", "numbers"),
            (0, "00000000 7fffffff" + "00" * 12, "names"),
            (1, "ffffffff07 00000001", "numbers"),
            (1, "00", "numbers"),
            (0, "00000000 00000000 00000003" + "00" * 12, "pairs"),
        ):
            error = refused(lambda version=version, text=text: decode(messages.Lists, version, text))
            assert field in error, (
                f"version {version}, {text[:24]}: {field} cannot have so many elements in so few bytes "
                f"(minimum_size): a SchemaError names it; yours: {error!r}"
            )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000, f"look at the count before anything is made of it: {peak:,} bytes were allocated"
    exact, _ = read(messages.Lists, 0, "00000002 00000001 00000002" + "00000000" * 3 + "ffffffff")
    assert exact.numbers == [1, 2], "two numbers, and enough bytes for them"
    last, _ = read(messages.Lists, 0, "00000000" * 4 + "00000002 0102")
    assert last.maybe == [1, 2], "the last two bytes are the last two elements: exactly enough"


@pytest.mark.points(3, task=4)
def test_the_bound_of_a_request(messages, refused):
    """All arrays of a request share one bound for their elements"""
    text = bytes.fromhex("00000003 010203  00000002 0000 0000")
    request, _ = messages.Bounded.decode_from(text, 0, 0, 5)
    assert (len(request.numbers), len(request.names)) == (3, 2), "three and two elements are allowed by a bound of five"
    error = refused(lambda: messages.Bounded.decode_from(text, 0, 0, 4))
    assert "names" in error, (
        f"three and two elements are more than four: take the room of each array (self._take_room); yours: {error!r}"
    )


@pytest.mark.points(6, task=4)
def test_the_smallest_sizes(messages):
    """minimum_size of each type"""
    pair, sizes = StructType(messages.Pair), StructType(messages.Sizes)
    for kind, version, flexible, wanted, why in (
        (INT8, 0, False, 1, "an int8"), (INT64, 0, True, 8, "an int64"), (UUID_TYPE, 0, False, 16, "a uuid"),
        (STRING, 0, False, 2, "an empty string"), (STRING, 0, True, 1, "an empty compact string"),
        (BYTES, 0, False, 4, "empty bytes"), (RECORDS, 0, True, 1, "compact records"),
        (Array(INT64), 0, False, 4, "an empty array"), (Array(INT64), 0, True, 1, "an empty compact array"),
        (pair, 0, False, 6, "a string and an int32"), (pair, 0, True, 6, "a compact string, an int32, a count of tags"),
        (sizes, 0, False, 9, "an int32, a null struct and an empty array; the others came with version 1"),
        (sizes, 1, True, 11, "two int32, a null struct, an empty array, a count of tags; a tagged field may be absent"),
    ):  # fmt: skip
        got = minimum_size(kind, version, flexible)
        form = "compact" if flexible else "plain"
        assert got == wanted, f"{why} has at least {wanted} bytes ({form}, version {version}); yours: {got}"
