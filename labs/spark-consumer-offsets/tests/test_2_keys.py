"""Task 2: the key says what a record is about."""

import pytest

from pipeline.tables.group_history import decode_key


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.points(3, task=2)
def test_a_committed_offset(commit_key, version):
    """The key of a commit, version"""
    got = decode_key(commit_key("riders", "flights", 3, version))
    want = {"kind": "commit", "group": "riders", "topic": "flights", "partition": 3}
    assert got is not None, f"key version {version} is a committed offset, as version {1 - version} is; you know it not"
    assert got == want, f"the key is about {want}; you read {got}"


@pytest.mark.points(2, task=2)
def test_a_group(group_key):
    """The key of a group"""
    got = decode_key(group_key("riders"))
    want = {"kind": "group", "group": "riders", "topic": None, "partition": None}
    assert got == want, f"key version 2 is a group, {want}; you read {got}"


@pytest.mark.points(2, task=2)
def test_a_version_from_the_future():
    """Key version 9"""
    try:
        got = decode_key(b"\x00\x09\x00\x02hi")
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001 - none is right
        pytest.fail(
            f"a newer broker may write keys that you do not know: return None, do not raise {type(error).__name__}"
        )
    assert got is None, f"version 9 is not known here: None, not {got}"
