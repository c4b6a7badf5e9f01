import re

import pytest

from kafka_learn.drawing.svg import text_width
from kafka_learn.site.home.parts_of_kafka import GROUPS, Presence, classes_of_the_book
from kafka_learn.site.home.picture import address, kafka, picture

PARTS = [part for group in GROUPS for row in group.rows for part in row]


def links(svg):
    return re.findall(r'<a href="([^"]+)" aria-label="([^"]+)"', svg)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_drawings_have_every_part_with_a_link_and_its_presence(language):
    drawn = picture(language)
    words = {Presence.HERE: ("there", "已实现"), Presence.PARTLY: ("partly there", "部分实现")}
    for svg in (drawn.wide(), drawn.narrow()):
        titles = {title: href for href, title in links(svg)}
        assert len(links(svg)) == len(PARTS)
        for part in PARTS:
            presence = part.presence(classes_of_the_book())
            said = words.get(presence, ("not there yet", "尚未实现"))[language == "zh"]
            (title,) = [each for each in titles if re.match(f"{part.name(language)}[,，]", each)]
            assert title.endswith((f": {said}", f"：{said}"))
            assert titles[title].endswith("/")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_name_is_cut_and_no_text_is_below_twelve_pixels(language):
    drawn = kafka(language)
    assert "…" not in drawn
    assert {float(size) for size in re.findall(r'font-size[=:]"?([\d.]+)', drawn)} == {12.0}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_narrow_drawing_fits_a_phone_and_the_wide_one_a_laptop(language):
    drawn = picture(language)
    for svg, room in ((drawn.narrow(), 390 - 48), (drawn.wide(), 976 - 32)):
        (width,) = re.findall(r'viewBox="0 0 ([\d.]+) [\d.]+"', svg)
        assert float(width) <= room
        for x, attributes, text in re.findall(r'<text x="([\d.]+)"([^>]*)>([^<]*)', svg):
            reach = text_width(text) / (2 if 'text-anchor="middle"' in attributes else 1)
            assert float(x) + reach <= float(width) + 1, text


def test_the_chinese_picture_has_chinese_words():
    drawn = picture("zh").wide()
    assert "尚未实现" in drawn
    assert ">写入<" in drawn
    assert "Producer" not in drawn


def test_addresses_are_those_of_directories():
    assert address("book/ch06_storage/reading.md") == "book/ch06_storage/reading/"
    assert address("book/index.md") == "book/"
