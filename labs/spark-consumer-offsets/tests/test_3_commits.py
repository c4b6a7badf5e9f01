"""Task 3: a committed offset in each version."""

import pytest

from pipeline.tables.group_history import decode_commit

TIME = 1_357_034_400_123


@pytest.mark.parametrize("version", [0, 1, 2, 3])
@pytest.mark.points(3, task=3)
def test_a_commit(commit_value, version):
    """A commit, value version"""
    value = commit_value(2**40 + 5, version, "by hand", TIME, leader_epoch=7 if version >= 3 else -1)
    try:
        got = decode_commit(value)
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a wrong place leads to
        got = f"{type(error).__name__}: {error}"
    want = {"committed_offset": 2**40 + 5, "metadata": "by hand", "commit_timestamp_ms": TIME}
    hint = "; version 3 has a leader epoch behind the offset" if version == 3 else ""
    assert got == want, f"value version {version} is {want}; you read {got}{hint}"


@pytest.mark.points(2, task=3)
def test_a_tombstone():
    """Null"""
    try:
        got = decode_commit(None)
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001 - none is right
        pytest.fail(f"an offset that has expired has the value null: return None, do not raise {type(error).__name__}")
    assert got is None, f"an offset that has expired has the value null: None, not {got}"


@pytest.mark.points(1, task=3)
def test_a_version_from_the_future(commit_value):
    """Value version 4"""
    got = decode_commit(commit_value(5, 4))
    assert got is None, f"version 4 has another layout, compact strings: None, not {got}, whose fields are wrong"
