"""The figure of the network layers shows the threads that exist."""

import pytest

from chapters.ch02_producer.figures.network_drawings import THREADS_OF_KAFKA, three_layers


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_thread_of_every_layer_is_in_the_figure(language):
    svg = three_layers(language)
    assert "kafka-socket-acceptor-PLAINTEXT" in svg
    for name, number in (
        ("kafka-network-thread-0-PLAINTEXT-", THREADS_OF_KAFKA["num.network.threads"]),
        ("kafka-request-handler-", THREADS_OF_KAFKA["num.io.threads"]),
    ):
        assert f"{name}{int(number) - 1}" in svg
        assert f"{name}{number}" not in svg
    assert "500" in svg


def test_labels_are_in_the_language_of_the_page():
    assert "whichever is free" in three_layers("en")
    assert "谁空闲谁取" in three_layers("zh")
