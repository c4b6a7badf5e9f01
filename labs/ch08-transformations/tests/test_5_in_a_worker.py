"""Task 5: a worker transforms with your code."""

import json

import pytest

from kafka_learn.labs.clients import create_topic, publish, read_all
from kafka_learn.labs.connectors import JSON, LabWorker, settle
from kafka_learn.labs.groups import GROUP_BROKER

PACKAGE = "org.apache.kafka.connect.transforms"
CSV = "examples.csv_source.csv_source_connector.CsvSourceConnector"


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


def chain(*names, **keys):
    """The keys of a chain: ``chain("a", a_type="X", a_regex="…")``."""
    found = {"transforms": ",".join(names)}
    for key, value in keys.items():
        alias, _, rest = key.partition("_")
        prefix = f"{PACKAGE}." if rest == "type" else ""
        found[f"transforms.{alias}.{rest}"] = f"{prefix}{value}"
    return found


@pytest.mark.points(5, task=5)
def test_a_source_in_another_topic(broker, tmp_path):
    """A file, routed"""
    create_topic(broker, "clean-lines")
    file = tmp_path / "lines.txt"
    file.write_text("one\ntwo\n")
    with LabWorker(broker, tmp_path) as worker:
        routed = chain("route", route_type="RegexRouter", route_regex="raw-(.*)", route_replacement="clean-$1")
        worker.create("lines", "FileStreamSource", {"file": file, "topic": "raw-lines", **routed})
        settle(
            lambda: [each.value() for each in read_all(broker, topic="clean-lines")[0]] == [b"one", b"two"], "two lines"
        )
        worker.must_run("lines")


@pytest.mark.points(5, task=5)
def test_a_sink(broker, tmp_path):
    """A topic of JSON without schemas, into a file"""
    create_topic(broker, "towns-in")
    town = json.dumps({"name": "Ulm", "people": 128928, "secret": "x"}).encode()
    publish(broker, 0, 2, lambda number: {"value": [town, b"null"][number]}, topic="towns-in")
    file = tmp_path / "out.txt"
    plain = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
    with LabWorker(broker, tmp_path) as worker:
        less = chain("less", less_type="ReplaceField$Value", less_exclude="secret,people")
        worker.create("towns-in", "FileStreamSink", {"file": file, "topics": "towns-in", **plain, **less})
        settle(lambda: file.exists() and len(file.read_text().splitlines()) == 2, "two lines")
        assert file.read_text().splitlines() == ["{name=Ulm}", "null"], (
            f"only the name; the file has {file.read_text()!r}"
        )


@pytest.mark.points(5, task=5)
def test_a_chain(broker, tmp_path):
    """Rows of a CSV file through all three"""
    create_topic(broker, "clean-towns")
    folder = tmp_path / "towns"
    folder.mkdir()
    (folder / "towns.csv").write_text("name,people,secret\nUlm,128928,x\nBonn,335789,y\n")
    json_data = {f"{part}.converter": JSON for part in ("key", "value")}
    json_data |= {f"{part}.converter.schemas.enable": "false" for part in ("key", "value")}
    with LabWorker(broker, tmp_path) as worker:
        all_three = chain(
            "less", "key", "route",
            less_type="ReplaceField$Value", less_exclude="secret", less_renames="people:inhabitants",
            key_type="ValueToKey", key_fields="name",
            route_type="RegexRouter", route_regex="raw-(.*)", route_replacement="clean-$1",
        )  # fmt: skip
        worker.create("towns", CSV, {"folder": folder, "topic": "raw-towns", **json_data, **all_three})
        wanted = [
            (b'{"name":"Ulm"}', b'{"name":"Ulm","inhabitants":"128928"}'),
            (b'{"name":"Bonn"}', b'{"name":"Bonn","inhabitants":"335789"}'),
        ]
        settle(
            lambda: [(each.key(), each.value()) for each in read_all(broker, topic="clean-towns")[0]] == wanted,
            f"keys and values {wanted}",
        )
        worker.must_run("towns")
