"""Frames that real clients have sent, and messages with a field of each kind."""

from types import SimpleNamespace
from uuid import UUID

import pytest

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import (
    Message,
    Request,
    Struct,
    array,
    bytes_,
    int8,
    int16,
    int32,
    nullable_struct,
    records_,
    source,
    string,
    uuid_,
)
from kafka_lite.protocol.schema_error import SchemaError

RECORDED = {
    # Java's client of Kafka 0.10.2: Metadata v0 of two topics, and v1 of all topics
    "metadata 0": "0003 0000 00000002 0006 676f6c64656e  00000002 0007 676f6c64656e30 0007 676f6c64656e31",
    "metadata 1": "0003 0001 00000006 0006 676f6c64656e  ffffffff",
    # the controller of Kafka 0.10.2 to a broker: UpdateMetadata v3
    "update metadata 3": "0006 0003 0000001c 0001 31  00000001 00000002  00000001 0002 6639 00000000",
    # ControlledShutdown v0, whose header has no client id
    "controlled shutdown 0": "0007 0000 00000002  00000009",
    # librdkafka 2.16 to Kafka 3.9: ApiVersions v3, Metadata v12, ListOffsets v7
    "api versions 3": "0012 0003 00000001 0009 72646b2d61646d696e 00  17 636f6e666c75656e742d6b61666b612d707974686f6e"
    " 16 322e31362e312d72646b61666b612d322e31362e30 00",
    "metadata 12": "0003 000c 00000002 0009 72646b2d61646d696e 00  01 00 00 00",
    "list offsets 7": "0002 0007 00000007 0008 72646b2d636f6e73 00  ffffffff 01 02 07 6d6f6465726e"
    " 02 00000001 00000000 fffffffffffffffe 00 00 00",
}
"""From tests/data: client-golden-0.10.2.json, inter-broker-0.10.2.json, modern-clients-first-frames.json."""


@pytest.fixture
def frame():
    """``frame(name)``: the bytes of a recorded request, without its size."""
    return lambda name: memoryview(bytes.fromhex(RECORDED[name]))


class Note(Message, versions="0-1", flexible="1"):
    number: int = int16()
    text: str = string()
    remark: str | None = string(nullable="0+", default=None)


class Parcel(Message, versions="0-1", flexible="1"):
    content: bytes = bytes_()
    spare: bytes | None = bytes_(nullable="0+", default=None)
    batches: bytes | None = records_()


class Pair(Struct):
    name: str = string()
    number: int = int32()


class Lists(Message, versions="0-1", flexible="1"):
    numbers: list[int] = array(int32)
    names: list[str] = array(string)
    pairs: list[Pair] = array(Pair)
    ids: list[UUID] = array(uuid_)
    maybe: list[int] | None = array(int8, nullable="0+", default=None)


class Bounded(Request, api_key=ApiKey.METADATA, versions="0", flexible="none"):
    numbers: list[int] = array(int8)
    names: list[str] = array(string)


class Sizes(Struct):
    number: int = int32()
    later: int = int32(versions="1+")
    tagged: int = int32(versions="1+", tag=0)
    pair: Pair | None = nullable_struct(Pair, versions="0+", nullable="0+")
    names: list[str] = array(string)


@pytest.fixture
def messages():
    """The classes of messages that the tests read."""
    return SimpleNamespace(Note=Note, Parcel=Parcel, Lists=Lists, Bounded=Bounded, Sizes=Sizes, Pair=Pair)


@pytest.fixture
def refused():
    """``refused(read)``: the text of the SchemaError that it raises; an empty string if it raises none."""

    def of(read):
        try:
            read()
        except SchemaError as error:
            return str(error)
        return ""

    return of


@pytest.fixture
def decode():
    """``decode(message, version, text)``: the message and its end, from bytes in hex; SchemaError is the test's."""

    def of(message, version, text):
        try:
            return message.decode_from(bytes.fromhex(text), 0, version)
        except (NameError, SyntaxError, AttributeError, TypeError) as error:
            code = source(message, version, "decode")
            return pytest.fail(f"the code that you emit does not run, {error}:\n{code}")

    return of


@pytest.fixture
def read(decode):
    """The same for bytes that must not be refused."""

    def of(message, version, text):
        try:
            return decode(message, version, text)
        except SchemaError as error:
            return pytest.fail(
                f"{message.__name__} version {version}, {text[:40]}: these bytes are right; yours: {error}"
            )

    return of
