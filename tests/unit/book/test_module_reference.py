"""The last lines of a module's docstring are parsed: Kafka's files and the sections of the book."""

from __future__ import annotations

from pathlib import Path

from kafka_lite.book.module_reference import Counterpart, DefinedClass, module_references, parse_reference


def _counterparts(lines: str) -> list[tuple[str, str]]:
    reference = parse_reference("m", f"What it is.\n\n{lines}\n")
    return [(each.name, each.path) for each in reference.counterparts]


def test_a_line_names_a_file_and_sections() -> None:
    reference = parse_reference("m", "What.\n\nKafka 0.10.2: core/.../log/LogSegment.scala · book 6.1.3, 10.2\n")
    assert reference.origin == "Kafka 0.10.2"
    assert reference.sections == ("6.1.3", "10.2")
    assert reference.counterparts == (Counterpart("LogSegment", "core/.../log/LogSegment.scala", True),)


def test_classes_in_parentheses_belong_to_the_file_before_them() -> None:
    assert _counterparts("Kafka 0.10.2: core/.../log/LogCleaner.scala (Cleaner, LogToClean) · book 6.1.6") == [
        ("LogCleaner", "core/.../log/LogCleaner.scala"),
        ("Cleaner", "core/.../log/LogCleaner.scala"),
        ("LogToClean", "core/.../log/LogCleaner.scala"),
    ]


def test_a_file_without_a_folder_is_in_the_folder_of_the_one_before() -> None:
    assert _counterparts("Kafka 0.10.2: clients/.../clients/ClientRequest.java,\nClientResponse.java · book 2.1.3") == [
        ("ClientRequest", "clients/.../clients/ClientRequest.java"),
        ("ClientResponse", "clients/.../clients/ClientResponse.java"),
    ]


def test_a_shorter_folder_starts_at_the_same_root() -> None:
    assert _counterparts("Kafka 0.10.2: core/.../log/Log.scala, server/LeaderElector.scala · book 7.1.1") == [
        ("Log", "core/.../log/Log.scala"),
        ("LeaderElector", "core/.../server/LeaderElector.scala"),
    ]


def test_classes_of_a_java_package_and_of_later_versions_are_found() -> None:
    assert _counterparts("Kafka 0.10.2: com.yammer.metrics.core.Meter; since 3.0 LogLoader · book 2.3") == [
        ("Meter", "com.yammer.metrics.core.Meter"),
        ("LogLoader", "com.yammer.metrics.core.Meter"),
    ]


def test_a_line_may_name_another_project_than_kafka() -> None:
    reference = parse_reference("m", "What.\n\nZooKeeper 3.8: zookeeper/.../server/DataTree.java\n· book 7.1.3\n")
    assert reference.origin == "ZooKeeper 3.8"
    assert not reference.has_counterpart
    assert reference.sections == ("7.1.3",)


def test_classes_are_found_with_their_lines(tmp_path: Path) -> None:
    package = tmp_path / "some"
    package.mkdir()
    (package / "rooms.py").write_text(
        '"""Rooms.\n\nKafka 0.10.2: core/.../Room.scala · book 6.1.1\n"""\n\n'
        "class Room:\n    class Door:\n        pass\n\n\nclass _Hidden:\n    pass\n\n\nHall = Room\nLIMIT = len\n"
    )
    (reference,) = module_references(package)
    assert reference.module == "some.rooms"
    assert reference.classes == (DefinedClass("Room", 6), DefinedClass("Door", 7), DefinedClass("Hall", 15))
