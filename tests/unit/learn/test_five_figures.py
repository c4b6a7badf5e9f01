"""The kept measurements have every system, and the page shows them in both languages."""

from __future__ import annotations

import pytest

from chapters.ch09_streams.figures import five_figures
from chapters.ch09_streams.five_systems.lines import WORDS_IN_A_LINE
from chapters.ch09_streams.five_systems.systems import COMMANDS


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_has_a_row_for_each_system_that_is_measured(language: str) -> None:
    rows = [row.split("|")[1].strip() for row in five_figures.times_table(language).splitlines()[2:]]
    assert rows == ["MapReduce", *COMMANDS]
    assert all(system in five_figures.one_more_figure(language) for system in rows)
    assert five_figures.kept()["machine"]["recorded"] in five_figures.machine_line(language)


def test_systems_without_batches_write_a_count_for_each_word() -> None:
    words = five_figures.kept()["lines"] * WORDS_IN_A_LINE
    written = {system: times["written"] for system, times in five_figures.kept()["systems"].items()}
    assert {system for system, counts in written.items() if counts == words} == {
        "Storm",
        "Kafka Streams",
        "kafka_lite.streams",
    }
    assert all(counts <= words for counts in written.values())
