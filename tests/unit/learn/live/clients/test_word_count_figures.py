"""Instances of word count, their tasks and counts."""

from __future__ import annotations

from kafka_learn.live.clients.word_count_figures import WordCountFigures


def test_an_instance_has_a_state_and_tasks_until_it_ends() -> None:
    notes: list[str] = []
    figures = WordCountFigures(notes.append)
    figures.began("instance-1")
    assert figures.as_json()["instances"] == {"instance-1": {"state": "starting", "tasks": []}}
    figures.streams_state("instance-1", "RUNNING")
    for task in ("1_0", "0_1", "1_0"):
        figures.task_began("instance-1", task)
    assert figures.as_json()["instances"] == {"instance-1": {"state": "RUNNING", "tasks": ["0_1", "1_0"]}}
    before = figures.as_json()
    figures.task_ended("instance-1", "0_1")
    assert before["instances"]["instance-1"]["tasks"] == ["0_1", "1_0"], "what was told stays as it was"
    figures.task_ended("instance-1", "0_1")
    assert figures.as_json()["instances"]["instance-1"]["tasks"] == ["1_0"]
    assert notes[0] == "instance-1: RUNNING"
    figures.ended("instance-1")
    figures.ended("instance-1")
    assert figures.as_json()["instances"] == {}


def test_a_word_has_its_last_count_and_where_it_was_counted() -> None:
    figures = WordCountFigures(lambda _: None)
    figures.counted("instance-1", "1_0", "log", 1)
    figures.counted("instance-1", "1_0", "log", 2)
    figures.counted("instance-2", "1_1", "be", 1)
    figures.line_written("to be")
    assert figures.as_json()["lines"] == 1
    assert figures.as_json()["words"] == {
        "be": {"count": 1, "instance": "instance-2", "task": "1_1"},
        "log": {"count": 2, "instance": "instance-1", "task": "1_0"},
    }
