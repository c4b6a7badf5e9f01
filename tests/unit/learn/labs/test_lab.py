"""Labs are found by name or prefix, and missed with a reason."""

import pytest

from kafka_learn.labs.lab import UnknownLabError, all_labs, find_lab


def test_labs_are_found_by_name_or_prefix():
    assert find_lab("ch06-offset").name == "ch06-offset-index"
    with pytest.raises(UnknownLabError, match=r"several labs begin with 'ch03': ch03-offset-cache, ch03-zookeeper-reb"):
        find_lab("ch03")
    with pytest.raises(UnknownLabError, match=r"'ch06-ofset-index'\. Did you mean 'ch06-offset-index'\?"):
        find_lab("ch06-ofset-index")
    with pytest.raises(UnknownLabError, match=r"unknown lab 'nope'\. .* labs list shows all of them"):
        find_lab("nope")


def test_every_task_has_the_title_of_its_heading_in_chinese():
    for lab in all_labs():
        assert [task.title for task in lab.tasks if task.title_in("zh") == task.title and not task.title_zh] == []
    assert find_lab("ch06-offset-index").tasks[0].title_in("zh") == "读出一个索引项"


def test_without_a_clone_the_message_says_where_labs_are(tmp_path):
    with pytest.raises(UnknownLabError, match="clone of the project"):
        find_lab("ch06-offset", tmp_path)
    with pytest.raises(UnknownLabError, match="clone of the project"):
        all_labs(tmp_path)
