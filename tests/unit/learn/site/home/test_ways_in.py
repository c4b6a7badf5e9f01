import re

import pytest

from kafka_learn.site.home.ways_in import first_lab, first_page, ways_in
from kafka_learn.site.path.reading_path import reading_path
from kafka_learn.site.path.site_menu import uri


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_way_has_one_beginning_in_the_order_of_the_path(language):
    beginnings = re.findall(r"\]\(([^)]+)\)\{ \.beginning \} \d+ ", ways_in(language))
    path = reading_path()
    assert beginnings == [uri(first_page(path)), "quickstart.md", uri(first_lab(path))]


def test_the_first_lab_is_easy_and_needs_nothing_else():
    path = reading_path()
    lab = path.lab(first_lab(path))
    assert (lab.difficulty, lab.extra) == ("easy", "")


def test_the_ways_are_in_the_language_of_the_page():
    assert "亲手" in ways_in("zh")
    assert not re.search("[\u4e00-\u9fff]", ways_in("en"))
