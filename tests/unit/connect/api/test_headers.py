from dataclasses import replace

from kafka_lite.connect.api import Header, Headers, Schema

A1, B, A2 = Header("a", 1), Header("b", "x", Schema.STRING_SCHEMA), Header("a", 2)
HEADERS = Headers([A1, B, A2])


def test_headers_are_found_by_name() -> None:
    assert HEADERS.all_with_name("a") == (A1, A2)
    assert (HEADERS.last_with_name("a"), HEADERS.last_with_name("c")) == (A2, None)
    assert (len(HEADERS), list(HEADERS)) == (3, [A1, B, A2])


def test_each_change_makes_other_headers() -> None:
    assert Headers().add("b", "x", Schema.STRING_SCHEMA) == Headers([B])
    assert HEADERS.remove("a") == Headers([B])
    assert HEADERS.retain_latest() == Headers([B, A2])
    assert HEADERS.retain_latest("b") == HEADERS
    assert HEADERS.retain_latest("a") == Headers([B, A2])
    assert len(HEADERS) == 3


def test_a_function_can_change_or_drop_headers() -> None:
    assert HEADERS.apply(lambda header: None if header.key == "a" else header) == Headers([B])
    assert HEADERS.apply(lambda header: replace(header, value=0), "b").last_with_name("b") == replace(B, value=0)


def test_equal_headers_have_one_hash() -> None:
    assert hash(Headers([Header("a", [1])])) == hash(Headers([Header("a", [1])]))
    assert Headers([A1, A2]) != Headers([A2, A1])
    assert repr(Headers([A1])) == "Headers(Header(key='a', value=1, schema=None))"
