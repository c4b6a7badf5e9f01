import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_names import colliding_topics, is_internal, validate_topic_name


@pytest.mark.parametrize("name", ["a", "valid_TOPIC.NAME-1", "...", "-", "a" * 249, "__consumer_offsets"])
def test_legal_names(name):
    validate_topic_name(name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "empty"),
        (".", "'.' or '..'"),
        ("..", "'.' or '..'"),
        ("a" * 250, "249"),
        ("a b", "other than ASCII"),
        ("a/b", "other than ASCII"),
        ("主题", "other than ASCII"),
        ("a\n", "other than ASCII"),
        ("a\0", "other than ASCII"),
    ],
)
def test_illegal_names(name, says):
    with pytest.raises(ApiError, match=says) as caught:
        validate_topic_name(name)
    assert caught.value.error is Errors.INVALID_TOPIC_EXCEPTION


def test_collisions():
    others = ["a.b.c", "a_b.c", "a_b_c", "abc", "a_b_d"]
    assert colliding_topics("a.b_c", others) == ["a.b.c", "a_b.c", "a_b_c"]
    assert colliding_topics("abc", others) == []


def test_internal_topics():
    assert is_internal("__consumer_offsets")
    assert is_internal("__transaction_state")
    assert is_internal("__share_group_state")
    assert not is_internal("__mine")
