"""What holds of each prediction of a chapter: it knows its answer and likely mistakes, and gives nothing away."""

from __future__ import annotations

from types import ModuleType

from kafka_learn.check import Prediction


def predictions_of(*modules: ModuleType) -> dict[str, Prediction]:
    """The predictions of chapters' modules, by module and name."""
    return {
        f"{module.__name__.removeprefix('chapters.')}:{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Prediction)
    }


def assert_tells_right_from_wrong(prediction: Prediction) -> None:
    """The right answer is found right, and each likely mistake is wrong for a reason that does not name the answer."""
    right = prediction.right()
    assert isinstance(right, int | str)
    assert prediction.verdict(right).startswith("**Right.**")
    assert prediction.mistakes
    for mistake, words in prediction.mistakes.items():
        assert mistake != right
        assert str(right) not in words.en.replace(str(mistake), ""), "it gives the answer away"
        assert prediction.verdict(mistake, "zh").endswith(words.zh)
