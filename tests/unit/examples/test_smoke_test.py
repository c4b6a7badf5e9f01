"""The smoke test's application gives the answers that its driver expects; and the driver finds what is wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator

from examples.smoke_test.driver import SERDES, Answers, Numbers, numbers_of
from examples.smoke_test.topology import CNT, DATA, ECHO, END, INTEGER, MIN, OUTPUTS, STRING, TAGG, smoke_test
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

KEYS, RECORDS_PER_KEY = 3, 40


def outputs(driver: TopologyTestDriver) -> Iterator[tuple[str, str, float]]:
    for topic in OUTPUTS:
        while record := driver.read_output(topic, STRING.deserializer, SERDES[topic].deserializer):
            yield topic, record.key, record.value


def test_the_application_gives_the_expected_answers() -> None:
    numbers = numbers_of(KEYS, RECORDS_PER_KEY)
    answers = Answers(numbers)
    with TopologyTestDriver(smoke_test(), key_serde=STRING, value_serde=INTEGER) as driver:
        for each in numbers:
            for place, number in enumerate(each.shuffled(random.Random(5))):
                driver.pipe_input(DATA, each.key, number, timestamp=place)
        driver.pipe_input(DATA, numbers[0].key, END, timestamp=RECORDS_PER_KEY)
        for answer in outputs(driver):
            answers.add(*answer)
    assert not answers.problems()
    assert answers.echoes[numbers[0].key][END] == 1


def test_numbers_are_written_once_each_and_at_most_nine_places_too_early() -> None:
    written = Numbers(7, 106).shuffled(random.Random(3))
    assert sorted(written) == list(range(7, 107)) != written
    assert all(number - 7 - place < 10 for place, number in enumerate(written))


def test_each_wrong_answer_is_named() -> None:
    (numbers,) = numbers_of(1, 3)
    answers = Answers([numbers])
    for topic, value in numbers.answers().items():
        answers.add(topic, "0-2", value)
    for number in (0, 1, 1, 2):
        answers.add(ECHO, "0-2", number)
    answers.add(TAGG, "2", 0)
    answers.add(TAGG, "3", 1)
    assert not answers.problems()
    assert answers.repeated() == 1
    answers.add(CNT, "0-2", 4)
    answers.add(MIN, "0-2", 1)
    answers.add(TAGG, "2", 1)
    assert answers.problems() == [
        "min 0-2: 1, not 0", "cnt 0-2: 4, not 3", "tagg: {'2': 1, '3': 1}, not {'3': 1}",
    ]  # fmt: skip
    missing = Answers([numbers])
    assert missing.problems()[0] == "echo 0-2: 3 numbers are missing, the first of them 0"
