"""Task 1: KStreamKTableJoin."""

import pytest

from kafka_lite.streams.kstream.internals.dropping_processor import DroppingProcessor


@pytest.mark.points(7, task=1)
def test_the_table_as_it_is_now(stream_join, outputs):
    """Each click meets the user's value at that moment"""
    found = outputs(
        stream_join("join"), ("users", "u", "Ann"), ("clicks", "u", "1"), ("users", "u", "Bob"), ("clicks", "u", "2")
    )
    assert found[0] == found[2] == [], f"a change of the table sends nothing; yours sends {found[0] + found[2]}"
    assert found[1::2] == [[("u", "1+Ann")], [("u", "2+Bob")]], (
        f"joiner(value of the stream, value of the table): 1+Ann, then 2+Bob; yours is {found[1::2]}"
    )


@pytest.mark.points(6, task=1)
def test_a_key_that_is_not_there(stream_join, outputs):
    """An inner join drops the record, a left join sends it with None"""
    click = ("clicks", "nobody", "1")
    assert outputs(stream_join("join"), click) == [[]], "an inner join drops records whose key is not in the table"
    found = outputs(stream_join("left_join"), click)
    assert found == [[("nobody", "1+None")]], f"a left join sends such a record, with None: 1+None; yours sends {found}"
    found = outputs(stream_join("left_join"), ("users", "u", "Ann"), ("clicks", "u", "1"))
    assert found[1] == [("u", "1+Ann")], f"a left join of a key that is in the table: 1+Ann; yours sends {found[1]}"


@pytest.mark.points(6, task=1)
def test_a_deleted_key(stream_join, outputs):
    """A record without a value deletes the user"""
    found = outputs(stream_join("join"), ("users", "u", "Ann"), ("users", "u", None), ("clicks", "u", "1"))
    assert found[2] == [], f"the user was deleted, so there is nothing to join with; yours sends {found[2]}"


@pytest.mark.points(3, task=1)
@pytest.mark.parametrize("kind", ["join", "left_join"])
def test_without_key_or_value(stream_join, outputs, kind, monkeypatch):
    """Such records are dropped by every join"""
    skipped = []
    monkeypatch.setattr(DroppingProcessor, "skip_record", lambda _processor, why: skipped.append(why))
    found = outputs(stream_join(kind), ("users", "u", "Ann"), ("clicks", None, "1"), ("clicks", "u", None))
    assert found[1] == [], f"{kind}: a record without a key has no partner; yours sends {found[1]}"
    assert found[2] == [], f"{kind}: a record without a value is dropped; yours sends {found[2]}"
    assert len(skipped) == 2, (
        f"{kind}: records that are dropped are counted and logged: call self.skip_record for both, "
        f"not {len(skipped)} times"
    )
    found = outputs(stream_join(kind), ("users", "", ""), ("clicks", "", ""))
    assert found[1] == [("", "+")], f"{kind}: an empty key or value is one, only None is none; yours sends {found[1]}"
