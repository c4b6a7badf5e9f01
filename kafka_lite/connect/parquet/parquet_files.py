"""The files of one partition of a topic: they are written whole, and found again after a crash · book 8.3.2"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lite.common.topic_partition import TopicPartition

COMMIT = "commit.json"
_NAME = re.compile(r"(?P<topic>.+)\+(?P<partition>\d+)\+(?P<first>\d+)\+(?P<last>\d+)\.parquet")


class Offsets(NamedTuple):
    """The first and the last offset of a commit."""

    first: int
    last: int


class ParquetFiles:
    """A commit has one file for each folder. All names have the offsets that the commit covers, so that the files say
    where the partition has to be read next::

        store/topics/orders/country=DE/orders+0+0000000000+0000000041.parquet      both files: offsets 0 to 41
        store/topics/orders/country=FR/orders+0+0000000000+0000000041.parquet
        store/_connect/orders+0/             one file after the other is written here, ① .
        store/_connect/orders+0/commit.json  ② says where they belong. ③ They are moved, ④ this is removed.

    A crash before ② leaves nothing that counts: the records are read again. After it the move is finished by the next
    task. A reader sees whole files only. Two tasks must not have the same partition, which the consumer group sees to.
    """

    def __init__(self, store: Path, topics_dir: str, partition: TopicPartition, codec: str) -> None:
        self._topic_folder = store / topics_dir / partition.topic
        self._working = store / "_connect" / f"{partition.topic}+{partition.partition}"
        self._partition = partition
        self._codec = codec

    def recover(self) -> int | None:
        """Finish or forget what a killed task left. The next offset to read; None if there are no files yet.

        Raises OSError.
        """
        commit = self._working / COMMIT
        if commit.exists():
            self._move(json.loads(commit.read_text(encoding="utf-8")))
        if self._working.exists():
            shutil.rmtree(self._working)
        last = [offsets.last for offsets in self._committed()]
        return max(last) + 1 if last else None

    def _committed(self) -> list[Offsets]:
        names = (_NAME.fullmatch(file.name) for file in self._topic_folder.rglob("*.parquet"))
        return [
            Offsets(int(name["first"]), int(name["last"]))
            for name in names
            if name and (name["topic"], int(name["partition"])) == self._partition
        ]

    def commit(self, tables: Mapping[str, pa.Table], offsets: Offsets) -> None:
        """Write a table into each folder. Raises OSError, leaving what ``recover`` puts right."""
        topic, partition = self._partition
        name = f"{topic}+{partition}+{offsets.first:010d}+{offsets.last:010d}.parquet"
        self._working.mkdir(parents=True, exist_ok=True)
        moves = {f"{number}.parquet": f"{folder}/{name}" for number, folder in enumerate(tables)}
        for temporary, table in zip(moves, tables.values(), strict=True):
            with (self._working / temporary).open("wb") as file:
                pq.write_table(table, file, compression=self._codec)
                file.flush()
                os.fsync(file.fileno())
        prepared = self._working / f"{COMMIT}.tmp"
        with prepared.open("w", encoding="utf-8") as text:
            json.dump(moves, text)
            text.flush()
            os.fsync(text.fileno())
        prepared.replace(self._working / COMMIT)
        self._move(moves)
        shutil.rmtree(self._working)

    def _move(self, moves: Mapping[str, str]) -> None:
        """Again and again, if need be: what is moved already is not there any more."""
        for temporary, target in moves.items():
            source, destination = self._working / temporary, self._topic_folder / target
            if source.exists():
                destination.parent.mkdir(parents=True, exist_ok=True)
                source.replace(destination)
