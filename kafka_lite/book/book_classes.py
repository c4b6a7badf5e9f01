"""The classes that the book discusses, and where they are here.

``classes.toml`` lists them by section and by their file in Kafka 0.10.2. Two more lists say what a class is
called here if it has another name, and why a class has no room::

    [sections."6.1.6"]
    "core/.../log/OffsetMap.scala" = ["OffsetMap", "SkimpyOffsetMap"]

    [another_name]
    FileRecords = "kafka_lite.log.files.file_message_set:FileMessageSet"

    [without_a_room]
    "chapter 8, Connect: not yet" = ["Herder", "Worker"]
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_lite.book.data_files import book_data, read_toml


@dataclass(frozen=True)
class BookClass:
    """A class of the book.

    ``another_name`` is ``module`` or ``module:symbol`` for a class that has another name here; ``reason`` says why a
    class has no room. Both are empty for a class that has a room under its own name.
    """

    name: str
    kafka: str
    sections: tuple[str, ...]
    another_name: str = ""
    reason: str = ""


def load_book_classes(path: Path | None = None) -> list[BookClass]:
    """Read the list, in the book's order. Raises ValueError if a name of the other lists is in no section."""
    data = read_toml(path or book_data("classes.toml"))
    sections: dict[tuple[str, str], list[str]] = {}
    for number, files in data["sections"].items():
        for kafka, names in files.items():
            for name in names:
                sections.setdefault((name, kafka), []).append(number)
    others: dict[str, str] = data["another_name"]
    reasons = {name: reason for reason, names in data["without_a_room"].items() for name in names}
    listed = {name for name, _ in sections} | {_with_file(*each) for each in sections}
    if unknown := sorted({*others, *reasons} - listed):
        raise ValueError(f"classes.toml: no section lists {unknown[0]}")
    return [
        BookClass(name, kafka, tuple(numbers), _of(others, name, kafka), _of(reasons, name, kafka))
        for (name, kafka), numbers in sections.items()
    ]


def _of(table: dict[str, str], name: str, kafka: str) -> str:
    return table.get(_with_file(name, kafka)) or table.get(name, "")


def _with_file(name: str, kafka: str) -> str:
    """The name of one of two classes of the same name: ``core/.../message/Message.scala: Message``."""
    return f"{kafka}: {name}"
