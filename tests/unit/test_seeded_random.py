"""A fixture in ``tests/conftest.py`` seeds ``random``: a test draws the same numbers in every run."""

import random


def test_the_numbers_of_a_test_depend_on_its_name(request):
    expected = random.Random(request.node.nodeid).random()
    assert random.random() == expected
