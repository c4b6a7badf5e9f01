import re
from xml.etree import ElementTree

from kafka_learn.drawing.logo import ASSETS, PARTITIONS, files, logo
from kafka_learn.drawing.svg import PALETTE


def test_the_files_are_as_they_are_drawn():
    for name, content in files().items():
        assert (ASSETS / name).read_text(encoding="utf-8") == content, "python -m kafka_learn.drawing.logo"


def test_each_partition_has_its_records_and_one_of_them_is_the_newest():
    ElementTree.fromstring(logo(ground=True))
    fills = re.findall(r'fill="(#\w+)"', logo(ground=False))
    assert len(fills) == sum(PARTITIONS)
    assert fills.count("#ffab5c") == len(PARTITIONS)


def test_the_site_has_the_colours_of_the_figures():
    style = (ASSETS / "site.css").read_text(encoding="utf-8")
    names = ("blue", "orange", "green", "violet", "red", "teal")
    for name, colour in zip(names, PALETTE, strict=False):
        assert f"--kafka-{name}: {colour};" in style
