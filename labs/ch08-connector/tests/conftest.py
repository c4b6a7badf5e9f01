"""A folder with files, and tasks as a worker starts them."""

import pytest

from examples.csv_source.csv_source_connector import CsvSourceConnector, CsvSourceTask
from kafka_lite.connect.api import OffsetStorageReader, SourceTaskContext

FILES = {
    "towns.csv": "name,people\nUlm,128928\nBonn,335789\nKiel,248873\n",
    "rivers.csv": "name\nRhine\n",
    "lakes.csv": "name\n",
}


class Worker(SourceTaskContext, OffsetStorageReader):
    """Stores offsets by file; ``keep(records)`` stores those of records."""

    def __init__(self):
        self.stored = {}

    @property
    def offset_storage_reader(self):
        return self

    def configs(self):
        return {}

    def offset(self, partition):
        return self.stored.get(frozenset(partition.items()))

    def offsets(self, partitions):
        return [self.offset(partition) for partition in partitions]

    def keep(self, records):
        for record in records:
            self.stored[frozenset(record.source_partition.items())] = dict(record.source_offset)


@pytest.fixture
def worker():
    return Worker()


@pytest.fixture
def folder(tmp_path):
    """Three files with three rows, one row and none, and one that is no CSV file."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "readme.txt").write_text("no,csv\n")
    return tmp_path


@pytest.fixture
def connector(folder):
    """Started on the folder."""
    made = CsvSourceConnector()
    made.start({"folder": str(folder), "topic": "rows"})
    return made


@pytest.fixture
def task(folder, worker):
    """``task("towns.csv")``: a started task with these files; batches have two rows."""

    def start(files, **more):
        made = CsvSourceTask()
        made.initialize(worker)
        made.start({"folder": str(folder), "topic": "rows", "files": files, "batch.size": "2", **more})
        return made

    return start


@pytest.fixture
def names():
    """The first columns of records."""
    return lambda records: [record.value["name"] for record in records or ()]
