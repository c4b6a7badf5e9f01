import pytest

from kafka_lite.connect.api import Converter, HeaderConverter, Predicate, Transformation
from kafka_lite.connect.java_names import CONVERTERS, JAVA_NAMES, PREDICATES, TRANSFORMATIONS, java_name, load


def test_every_name_has_its_class() -> None:
    assert all(issubclass(load(name), Transformation) for name in TRANSFORMATIONS)
    assert all(issubclass(load(name), Predicate) for name in PREDICATES)
    assert all(issubclass(load(name), Converter | HeaderConverter) for name in CONVERTERS)


@pytest.mark.parametrize("name", JAVA_NAMES)
def test_a_class_is_known_by_three_names(name: str) -> None:
    assert java_name(name) == name
    assert java_name(name.rpartition(".")[2]) == name
    assert java_name(JAVA_NAMES[name]) == name


def test_other_names_are_not_known() -> None:
    assert java_name("Value") is None
    with pytest.raises(KeyError):
        load("InsertField")
