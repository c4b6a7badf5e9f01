"""The beanstalkd client, against a scripted server."""

import socket
import threading

import pytest

from chapters.ch01_introduction.figures import beanstalk
from chapters.ch01_introduction.figures.beanstalk import BeanstalkClient, BeanstalkError, running_beanstalkd
from tests.support.patience import patient_s


@pytest.fixture
def scripted():
    """A function that takes the server's replies and returns a client; the fixture's list is what the server got."""
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
            thread.join(patient_s(60))

    client.received, client.join = received, join
    yield client
    join()
    listener.close()


def test_jobs_are_put_in_one_batch_and_each_gets_a_reply(scripted):
    with scripted(b"INSERTED 7\r\nINSERTED 8\r\n") as client:
        assert client.put(b"one", b"second") == [7, 8]
    assert_sent(scripted, b"put 0 0 60 3\r\none\r\nput 0 0 60 6\r\nsecond\r\n")


def assert_sent(scripted, expected):
    scripted.join()
    assert bytes(scripted.received) == expected


def test_a_reserved_job_has_its_body_whatever_the_bytes(scripted):
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
def test_an_unexpected_reply_is_an_error_that_quotes_it(scripted, answer, message):
    with scripted(answer) as client, pytest.raises(BeanstalkError, match=message):
        client.put(b"x")


def test_a_missing_beanstalkd_is_reported_with_how_to_install_it(monkeypatch):
    monkeypatch.setattr(beanstalk, "beanstalkd_program", lambda: None)
    with pytest.raises(FileNotFoundError, match="apt-get install beanstalkd"), running_beanstalkd():
        pass
