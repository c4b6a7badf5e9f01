import re

import pytest

from kafka_learn.drawing.kafka_picture import GAP, HEAD, PADDING, PHONE, TILE, KafkaPicture, Panel, Tile, tiles_of


def tile(name, presence="here"):
    return Tile(name, "6.1", f"{name}/", presence, f"{name}, read it")


def a_panel(title, *rows):
    return Panel(title, tuple(tuple(map(tile, row)) for row in rows))


@pytest.fixture
def picture():
    return KafkaPicture(
        writes=a_panel("writes", ["a"], ["b"]),
        broker=a_panel("broker", ["c", "d", "e"], ["f", "g", "h"]),
        followers=a_panel("followers", ["i"]),
        zookeeper=Panel("zookeeper", ((tile("j", "not yet"),),)),
        reads=a_panel("reads", ["k"]),
        calls=("Produce", "Fetch", "Replicate", "Elect"),
        legend=(("here", "there"), ("partly", "partly"), ("not yet", "missing")),
        label="Kafka <small>",
    )


def size(svg):
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0]
    return float(width), float(height)


def boxes(svg):
    return [
        tuple(map(float, box))
        for box in re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg)
    ]


@pytest.mark.parametrize("drawing", [KafkaPicture.wide, KafkaPicture.narrow])
def test_every_tile_is_a_link_inside_of_the_drawing(picture, drawing):
    svg = drawing(picture)
    assert re.findall(r'<a href="(\w)/" aria-label="\w, read it" class="part">', svg).count("a") == 1
    assert len(re.findall("<a ", svg)) == 11
    width, height = size(svg)
    for x, y, across, down in boxes(svg):
        assert x >= 0
        assert x + across <= width
        assert y + down <= height


@pytest.mark.parametrize("drawing", [KafkaPicture.wide, KafkaPicture.narrow])
def test_tiles_do_not_overlap(picture, drawing):
    tiles = [box for box in boxes(drawing(picture)) if box[3] == TILE]
    assert len(tiles) == 11
    for number, (x, y, across, down) in enumerate(tiles):
        for other_x, other_y, other_across, other_down in tiles[number + 1 :]:
            beside = x + across <= other_x or other_x + other_across <= x
            assert beside or y + down <= other_y or other_y + other_down <= y


@pytest.mark.parametrize("drawing", [KafkaPicture.wide, KafkaPicture.narrow])
def test_arrows_and_legend_have_their_words(picture, drawing):
    svg = drawing(picture)
    assert {"Produce", "Fetch", "● there", "◐ partly", "○ missing"} <= set(re.findall(">([^<]+)</text>", svg))
    assert 'role="group" aria-label="Kafka &lt;small&gt;"' in svg


def test_what_is_not_there_has_a_broken_outline(picture):
    svg = picture.wide()
    assert svg.count("stroke-dasharray") == 1
    assert "6.1 ○" in svg
    assert svg.count("6.1 ●") == 10


def test_a_panel_is_as_high_as_its_rows():
    panel = a_panel("p", ["a"], ["b"], ["c"])
    assert panel.height() == HEAD + 3 * TILE + 2 * GAP + PADDING


def test_on_a_phone_two_tiles_stand_side_by_side():
    panel = a_panel("p", ["a", "b", "c"], ["d", "e"])
    assert [[each.name for each in row] for row in panel.for_phone().rows] == [["a", "b"], ["c", "d"], ["e"]]
    assert [each.name for each in tiles_of([panel])] == [each.name for each in tiles_of([panel.for_phone()])]


def test_the_narrow_drawing_is_as_wide_as_a_phone(picture):
    assert size(picture.narrow())[0] == PHONE
    assert size(picture.wide())[0] > 2 * PHONE
