"""Records have the bytes that Helix's Jackson gives them, and are read as strictly as Helix reads them."""

import gzip
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.mirror.helix.helix_errors import RecordTooLargeError, UnreadableRecordError
from kafka_lite.mirror.helix.zn_record import LIST_FIELD_BOUND, SIZE_LIMIT, ZNRecord, sorted_fields
from tests.support.helix_samples import SAMPLES, record_of

NAMES = st.text(max_size=5)
RECORDS = st.builds(
    ZNRecord,
    NAMES,
    st.dictionaries(NAMES, NAMES, max_size=3),
    st.dictionaries(NAMES, st.lists(NAMES, max_size=3), max_size=3),
    st.dictionaries(NAMES, st.dictionaries(NAMES, NAMES, max_size=3), max_size=3),
)

AS_JACKSON_WRITES_IT = """{
  "id" : "t",
  "simpleFields" : {
    "NUM_PARTITIONS" : "2"
  },
  "listFields" : {
    "t_0" : [ "w1", "w2" ],
    "t_1" : [ ]
  },
  "mapFields" : {
    "0" : {
      "w1" : "ONLINE"
    },
    "1" : {
    }
  }
}"""


def test_a_record_is_indented_as_jackson_indents_it():
    record = ZNRecord("t", {"NUM_PARTITIONS": "2"}, {"t_0": ["w1", "w2"], "t_1": []}, {"0": {"w1": "ONLINE"}, "1": {}})
    assert record.to_bytes().decode() == AS_JACKSON_WRITES_IT
    assert ZNRecord.from_bytes(AS_JACKSON_WRITES_IT.encode()) == record


def test_the_payload_of_an_application_is_kept():
    record = ZNRecord("t", raw_payload="YWJj")
    assert record.to_json().endswith('},\n  "rawPayload" : "YWJj"\n}')
    assert ZNRecord.from_bytes(record.to_bytes()) == record


@given(RECORDS)
def test_a_record_comes_back_and_is_json(record):
    assert ZNRecord.from_bytes(record.to_bytes()) == record
    assert json.loads(record.to_json())["mapFields"] == record.map_fields


def test_all_records_of_a_real_helix_come_back():
    lines = (SAMPLES / "writes-0.6.9.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line)["record"] for line in lines if '"record"' in line]
    assert len(records) > 100
    for data in records:
        assert ZNRecord.from_bytes(json.dumps(data).encode()) == record_of(data)


def test_a_container_has_no_record():
    assert ZNRecord.from_bytes(b"") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"id": "t", "color": "red"}', "unknown properties color"),
        ('{"id": "t", "simpleFields": ["a"]}', "not a map"),
        ('{"id": "t", "simpleFields": {"a": {"b": "c"}}}', "not a text"),
        ('{"id": "t", "listFields": {"a": "b"}}', "not a list"),
        ('{"id": "t", "mapFields": {"a": ["b"]}}', "not a map"),
        ('["t"]', "not a JSON object"),
        ('{"id": "t"', "not a ZNRecord"),
    ],
)
def test_what_helix_cannot_read_is_said(text, reason):
    with pytest.raises(UnreadableRecordError, match=reason):
        ZNRecord.from_bytes(text.encode())


@pytest.mark.parametrize(
    "data",
    [b"\xff\xfe", b"\x1f\x8bshort", gzip.compress(b"{", mtime=0)[:-9], b"[" * 100_000],
    ids=["no UTF-8", "no gzip", "half a gzip", "nested"],
)
def test_bytes_that_are_no_text_are_unreadable(data):
    with pytest.raises(UnreadableRecordError):
        ZNRecord.from_bytes(data)


def test_jackson_takes_numbers_and_booleans_for_texts_and_missing_maps_for_empty_ones():
    read = ZNRecord.from_bytes(
        b'{"id": "t", "simpleFields": {"a": 1, "b": 2.50, "c": true, "d": null}, "mapFields": null}'
    )
    assert read == ZNRecord("t", {"a": "1", "b": "2.50", "c": "true"})


def test_a_record_is_compressed_on_request_and_when_it_is_large():
    small = ZNRecord("t", {"enableCompression": "true"})
    large = ZNRecord("t", {"a": "x" * SIZE_LIMIT})
    for record in (small, large):
        assert gzip.decompress(record.to_bytes()).decode() == record.to_json()
        assert ZNRecord.from_bytes(record.to_bytes()) == record


def test_a_record_that_is_too_large_even_compressed_is_refused():
    digits = Random(1).randbytes(1_200_000).hex()
    with pytest.raises(RecordTooLargeError, match="more than 1024000"):
        ZNRecord("t", {"a": digits}).to_bytes()


@pytest.mark.parametrize(("bound", "kept"), [("2", '[ "a", "b" ]'), ("0", "[ ]"), ("many", '[ "a", "b", "c" ]')])
def test_lists_are_cut_at_the_bound_of_their_record(bound, kept):
    record = ZNRecord("t", {LIST_FIELD_BOUND: bound}, {"x": ["a", "b", "c"]})
    assert f'"x" : {kept}\n' in record.to_json()


def test_changes_make_new_records():
    record = ZNRecord("t", {"a": "1"}, {"l": ["x"]}, {"m": {"k": "v"}})
    assert record.with_simple(b="2").simple_fields == {"a": "1", "b": "2"}
    assert record.with_map("m", {"z": "0"}).map_fields == {"m": {"z": "0"}}
    assert record.without_map("m").without_map("m").map_fields == {}
    merged = record.merged(ZNRecord("u", {"a": "3"}, {"l": ["y"]}, {"m": {"z": "0"}, "n": {}}))
    assert merged == ZNRecord("t", {"a": "3"}, {"l": ["x", "y"]}, {"m": {"k": "v", "z": "0"}, "n": {}})
    assert record == ZNRecord("t", {"a": "1"}, {"l": ["x"]}, {"m": {"k": "v"}})


def test_new_records_are_sorted():
    assert list(sorted_fields({"b": "", "a": ""})) == ["a", "b"]
