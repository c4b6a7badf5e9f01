"""The client of beanstalkd speaks its protocol; the server here is a script."""

import socket
import threading

import pytest

from chapters.ch01_introduction.figures import beanstalk
from chapters.ch01_introduction.figures.beanstalk import BeanstalkClient, BeanstalkError, running_beanstalkd


@pytest.fixture
def scripted():
    """A function: what the server answers, and then a client of it; the fixture's list is what it was sent."""
    threads, received = [], bytearray()
    listener = socket.create_server(("127.0.0.1", 0))

    def client(answer):
        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.sendall(answer)
                while data := connection.recv(4096):
                    received.extend(data)

        thread = threading.Thread(target=serve)
        thread.start()
        threads.append(thread)
        return BeanstalkClient(listener.getsockname()[1])

    def join():
        for thread in threads:
            thread.join(60)

    client.received, client.join = received, join
    yield client
    join()
    listener.close()


def test_jobs_are_put_all_at_once_and_each_is_answered(scripted):
    with scripted(b"INSERTED 7\r\nINSERTED 8\r\n") as client:
        assert client.put(b"one", b"second") == [7, 8]
    assert_sent(scripted, b"put 0 0 60 3\r\none\r\nput 0 0 60 6\r\nsecond\r\n")


def assert_sent(scripted, expected):
    scripted.join()
    assert bytes(scripted.received) == expected


def test_a_reserved_job_comes_with_its_body_whatever_is_in_it(scripted):
    with scripted(b"RESERVED 7 5\r\na\r\nbc\r\nDELETED\r\n") as client:
        assert client.reserve() == (7, b"a\r\nbc")
        client.delete(7)
    assert_sent(scripted, b"reserve-with-timeout 0\r\ndelete 7\r\n")


def test_stats_are_a_dictionary(scripted):
    body = b'---\nbinlog-current-index: 3\nid: "abc"\n'
    with scripted(b"OK %d\r\n%b\r\n" % (len(body), body)) as client:
        assert client.stats() == {"binlog-current-index": "3", "id": "abc"}


@pytest.mark.parametrize(
    ("answer", "message"), [(b"JOB_TOO_BIG\r\n", "JOB_TOO_BIG"), (b"BURIED 3\r\n", "BURIED 3"), (b"DRAINING\r\n", "DR")]
)
def test_another_answer_is_an_error_with_its_words(scripted, answer, message):
    with scripted(answer) as client, pytest.raises(BeanstalkError, match=message):
        client.put(b"x")


def test_where_it_is_not_installed_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(beanstalk, "beanstalkd_program", lambda: None)
    with pytest.raises(FileNotFoundError, match="apt-get install beanstalkd"), running_beanstalkd():
        pass
