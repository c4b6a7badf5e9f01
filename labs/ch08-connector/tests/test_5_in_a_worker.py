"""Task 5: a worker runs your connector."""

import json

import pytest

from kafka_learn.labs.clients import create_topic, read_all
from kafka_learn.labs.connectors import JSON, LabWorker, settle
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId

CONNECTOR = "examples.csv_source.csv_source_connector.CsvSourceConnector"


def config(folder, topic, **more):
    plain = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
    return {"folder": folder, "topic": topic, **plain, **more}


def rows(broker, topic):
    return [json.loads(each.value())["n"] for each in read_all(broker, topic=topic)[0]]


def write(folder, name, numbers):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("n\n" + "".join(f"{number}\n" for number in numbers))


@pytest.mark.points(5, task=5)
def test_two_tasks(broker, tmp_path):
    """Five files, each by one task"""
    create_topic(broker, "five")
    for file in range(5):
        write(tmp_path / "csv", f"{file}.csv", range(file * 100, file * 100 + 100))
    with LabWorker(broker, tmp_path) as worker:
        worker.create("five", CONNECTOR, config(tmp_path / "csv", "five", **{"tasks.max": 2}))
        wanted = sorted(map(str, range(500)))
        settle(lambda: sorted(rows(broker, "five")) == wanted, "500 rows, each once")
        states = [worker.state(ConnectorTaskId("five", number)) for number in range(2)]
        assert states == ["RUNNING", "RUNNING"], f"two tasks run; {states}"


@pytest.mark.points(5, task=5)
def test_two_lives(broker, tmp_path):
    """A worker is stopped, and the next one continues"""
    create_topic(broker, "lives")
    write(tmp_path / "csv", "a.csv", range(700))
    with LabWorker(broker, tmp_path) as worker:
        worker.create("lives", CONNECTOR, config(tmp_path / "csv", "lives"))
        settle(lambda: len(rows(broker, "lives")) == 700, "700 rows")
    write(tmp_path / "csv", "a.csv", range(1000))
    with LabWorker(broker, tmp_path) as worker:
        worker.create("lives", CONNECTOR, config(tmp_path / "csv", "lives"))
        settle(lambda: len(rows(broker, "lives")) >= 1000, "300 more")
        worker.must_run("lives")
    assert rows(broker, "lives") == [str(number) for number in range(1000)], "each row once, in order"


@pytest.mark.points(5, task=5)
def test_a_worker_is_killed(broker, tmp_path):
    """Its last offsets are not stored"""
    create_topic(broker, "killed")
    write(tmp_path / "csv", "a.csv", range(10))
    with LabWorker(broker, tmp_path) as worker:
        worker.create("killed", CONNECTOR, config(tmp_path / "csv", "killed"))
        settle(lambda: len(rows(broker, "killed")) == 10, "ten rows")
    worker.offsets.unlink()
    with LabWorker(broker, tmp_path) as worker:
        worker.create("killed", CONNECTOR, config(tmp_path / "csv", "killed"))
        settle(lambda: len(rows(broker, "killed")) == 20, "ten rows once more: nothing is lost")
