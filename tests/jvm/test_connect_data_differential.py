"""Our JsonConverter and transformations compared with Kafka's, on any data and in any configuration that people use."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api import ConnectError, Schema, SinkRecord
from kafka_lite.connect.api.headers import Headers
from kafka_lite.connect.java_names import load
from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.record.record import TimestampType
from tests.support.connect_data import DATA
from tests.support.jvm import classpath, compile_java, run_java

pytestmark = pytest.mark.jvm

SOURCE = Path(__file__).with_name("ConnectData.java")
JARS = (
    "org.apache.kafka:connect-json:3.9.1",
    "org.apache.kafka:connect-transforms:3.9.1",
    "org.slf4j:slf4j-nop:1.7.36",
)
CONVERTERS = {"true": JsonConverter(), "false": JsonConverter()}
CONVERTERS["false"].configure({"schemas.enable": "false"}, False)


def java(lines: list[str]) -> list[str]:
    """What Kafka makes of each line."""
    jars = classpath(*JARS)
    compiled = compile_java(SOURCE, jars)
    return run_java("ConnectData", classpath=[compiled, *jars], stdin="\n".join(lines) + "\n").stdout.splitlines()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def drawn(count: int) -> list[tuple[Schema, Any]]:
    """So many schemas, always the same ones, each with a value."""
    found: list[tuple[Schema, Any]] = []

    @settings(
        max_examples=count,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(DATA)
    def collect(data: tuple[Schema, Any]) -> None:
        found.append(data)

    collect()
    return found


def test_kafka_reads_what_ours_writes_and_writes_the_same() -> None:
    converter, data = CONVERTERS["true"], drawn(300)
    written = [converter.from_connect_data("t", *each) or b"" for each in data]
    answers = java([f"json\ttrue\t{encoded(text)}" for text in written])

    assert len(answers) == len(written) > 250
    for each, text, answer in zip(data, written, answers, strict=True):
        assert answer[0] != "!", (answer, text)
        theirs = base64.b64decode(answer)
        assert b"Infinity" in text or converter.to_connect_data("t", theirs) == each
        if not any(kind in text for kind in HAVE_OTHER_TEXTS):
            assert theirs == text


HAVE_OTHER_TEXTS = (b'"type":"map"', b'"type":"float"', b'"type":"double"')
"""In Java a map has another order, and infinities are read as 0; before Java 19 some floats have needless digits."""


ODD = [
    '{"schema":{"type":"int32"},"payload":"x"}',
    '{"schema":{"type":"int8"},"payload":1e30}',
    '{"schema":{"type":"int64"},"payload":-1.9}',
    '{"schema":{"type":"boolean"},"payload":1}',
    '{"schema":{"type":"float"},"payload":1e39}',
    '{"schema":{"type":"double"},"payload":123456789012345678901234567890}',
    '{"schema":{"type":"array","items":{"type":"int8"}},"payload":{"a":1}}',
    '{"schema":{"type":"string","optional":true},"payload":5}',
    '{"schema":{"type":"bytes"},"payload":"*"}',
    '{"schema":{"type":"struct","fields":[{"type":"int8","field":"a","default":4}]},"payload":{}}',
    '{"schema":{"type":"struct","fields":[{"type":"int8","field":"a"}]},"payload":{}}',
    '{"schema":{"type":"map","keys":{"type":"int8"},"values":{"type":"int8"}},"payload":{"1":1}}',
    '{"schema":{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}},"payload":1.25}',
    '{"schema":{"type":"int32","name":"org.apache.kafka.connect.data.Time"},"payload":-1}',
    '{"schema":{"type":"int8","version":1.5,"doc":7,"name":null},"payload":1}',
    '{"schema":{"type":"int8","default":300},"payload":null}',
    '{"schema":{"type":"array"},"payload":[]}',
    '{"schema":{},"payload":[]}',
    '{"schema":null,"payload":{"a":[1,2.5,"\\u001f\\ud83d\\ude00",null,true]}}',
    '{"schema":null,"payload":12345678901234567890}',
    '{"schema":null}',
    "[]",
    '{"schema":null,"payload":1} x',
    '{"schema":null,"payload":1}}',
    '{"schema":null,"payload":NaN}',
    '{"schema":null,"payload":"a\tb"}',
    '{"schema":null,"payload":1,"payload":2}',
]


def test_odd_texts_are_read_as_kafka_reads_them() -> None:
    answers = java([f"json\ttrue\t{encoded(text.encode())}" for text in ODD])

    for text, answer in zip(ODD, answers, strict=True):
        assert read_and_written(text.encode()) == (None if answer[0] == "!" else base64.b64decode(answer)), text


def read_and_written(text: bytes) -> bytes | None:
    """None if it is an error."""
    try:
        return CONVERTERS["true"].from_connect_data("t", *CONVERTERS["true"].to_connect_data("t", text))
    except ConnectError:
        return None


MAP = {"a": 7, "b": "x", "c": 1.5, "in": {"x": 1, "y": None}, "l": [1], "t": True, "when": 1700000000123, "s": "42"}
FIELDS = [
    {"type": "int32", "field": "a"},
    {"type": "string", "optional": True, "field": "b"},
    {"type": "double", "default": 2.5, "field": "c"},
    {
        "type": "struct",
        "optional": True,
        "field": "in",
        "fields": [{"type": "int8", "field": "x"}, {"type": "int16", "optional": True, "field": "y"}],
    },
    {"type": "array", "items": {"type": "int32"}, "field": "l"},
    {"type": "boolean", "field": "t"},
    {"type": "int64", "name": "org.apache.kafka.connect.data.Timestamp", "version": 1, "field": "when"},
    {"type": "string", "field": "s"},
]
SCHEMA = {"type": "struct", "fields": FIELDS, "name": "rec", "version": 3}
VALUES = {
    "struct": ("true", {"schema": SCHEMA, "payload": MAP}),
    "map": ("false", MAP),
    "long": ("true", {"schema": {"type": "int64"}, "payload": 1700000000123}),
    "text": ("true", {"schema": {"type": "string"}, "payload": "2023-11-14"}),
    "nothing": ("true", {"schema": {"type": "string", "optional": True}, "payload": None}),
}
CASES = [
    ("Cast$Value", "spec=a:string,c:int8,t:int64,s:int16"),
    ("Cast$Value", "spec=when:string"),
    ("Cast$Value", "spec=when:int32"),
    ("Cast$Value", "spec=in:string"),
    ("Cast$Value", "spec=int32"),
    ("Cast$Value", "spec=string"),
    ("Cast$Value", "spec=boolean"),
    ("Cast$Key", "spec=float64"),
    ("DropHeaders", "headers=old"),
    ("ExtractField$Value", "field=in"),
    ("Filter", ""),
    ("Flatten$Value", "delimiter=_"),
    ("Flatten$Key", ""),
    ("HeaderFrom$Value", "fields=a,when;headers=x,y;operation=copy"),
    ("HeaderFrom$Value", "fields=in,b;headers=x,old;operation=move"),
    ("HeaderFrom$Value", "fields=none;headers=x;operation=copy"),
    ("HoistField$Value", "field=w"),
    ("InsertField$Value", "topic.field=tt;offset.field=oo!;timestamp.field=ts;static.field=st;static.value=sv"),
    ("InsertHeader", "header=new;value.literal=1000"),
    ("InsertHeader", "header=new;value.literal=1.5"),
    ("InsertHeader", "header=new;value.literal=2023-11-14T22:13:20.123Z"),
    ("InsertHeader", 'header=new;value.literal=["a","b"]'),
    ("InsertHeader", "header=new;value.literal=[1, 2.5]"),
    ("InsertHeader", 'header=new;value.literal={"a":1000}'),
    ("InsertHeader", "header=new;value.literal=-0x"),
    ("MaskField$Value", "fields=a,b,t,l,when"),
    ("MaskField$Value", "fields=a,b;replacement=5"),
    ("MaskField$Value", "fields=in"),
    ("RegexRouter", "regex=(\\w+)-(?<n>\\d);replacement=${n}$1\\$"),
    ("ReplaceField$Value", "include=a,b,in;exclude=b;renames=a:z"),
    ("SetSchemaMetadata$Value", "schema.name=n;schema.version=9"),
    ("TimestampConverter$Value", "field=when;target.type=string;format=yyyy-MM-dd'T'HH:mm:ss.SSS EEE w"),
    ("TimestampConverter$Value", "field=when;target.type=unix;unix.precision=seconds"),
    ("TimestampConverter$Value", "field=when;target.type=Date"),
    ("TimestampConverter$Value", "target.type=Timestamp;format=yyyy-MM-dd"),
    ("TimestampConverter$Value", "target.type=string;format=h 'o''clock' a, d MMMM yyyy"),
    ("TimestampRouter", "timestamp.format=yyyy.w"),
    ("ValueToKey", "fields=s,a"),
]


def test_transformations_make_what_kafkas_make() -> None:
    cases = [(case, kind) for case in CASES for kind in VALUES]
    lines = [
        f"transform\t{name}\t{config}\t{VALUES[kind][0]}\t{encoded(json.dumps(VALUES[kind][1]).encode())}"
        for (name, config), kind in cases
    ]
    differing = {
        f"{case[0]} {case[1]} {kind}": (theirs, ours)
        for (case, kind), theirs in zip(cases, java(lines), strict=True)
        if comparable(theirs) != comparable(ours := transformed(*case, *VALUES[kind]))
    }

    assert not differing


def transformed(name: str, config: str, schemas: str, value: Any) -> str:
    schema, data = CONVERTERS[schemas].to_connect_data("t", json.dumps(value).encode())
    record = SinkRecord(
        topic="topic-1",
        kafka_partition=2,
        key_schema=Schema.STRING_SCHEMA,
        key="key",
        value_schema=schema,
        value=data,
        kafka_offset=42,
        timestamp=1700000000123,
        timestamp_type=TimestampType.CREATE_TIME,
        headers=Headers().add("old", "h", Schema.STRING_SCHEMA),
    )
    try:
        made = load(f"org.apache.kafka.connect.transforms.{name}")()
        made.configure(dict(pair.split("=", 1) for pair in config.split(";") if pair))
        changed = made.apply(record)
        return "(dropped)" if changed is None else shown(changed)
    except (ConnectError, ConfigError) as error:
        return f"!\t{type(error).__name__}\t{error}"


def shown(record: SinkRecord) -> str:
    headers = [f"{header.key}={text(header.schema, header.value)}" for header in record.headers]
    return "\t".join(
        [record.topic, text(record.key_schema, record.key), text(record.value_schema, record.value), *headers]
    )


def text(schema: Schema | None, value: Any) -> str:
    written = CONVERTERS["false" if schema is None else "true"].from_connect_data("t", schema, value)
    return "(null)" if written is None else written.decode()


def comparable(result: str) -> list[str]:
    """Errors are alike whatever they say; maps have their keys in one order."""
    if result.startswith("!"):
        return ["!"]
    return [
        json.dumps(json.loads(part), sort_keys=True) if part[:1] == "{" and part[:9] != '{"schema"' else part
        for part in result.split("\t")
    ]
