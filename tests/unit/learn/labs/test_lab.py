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


def test_without_a_clone_the_message_says_where_labs_are(tmp_path):
    with pytest.raises(UnknownLabError, match="clone of the project"):
        find_lab("ch06-offset", tmp_path)
    with pytest.raises(UnknownLabError, match="clone of the project"):
        all_labs(tmp_path)
