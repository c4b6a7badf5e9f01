# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Notebook: the way of a request
#
# *Book 2.3; the text to it is [The socket server](socket-server.md), [The request channel](request-channel.md) and
# [From the queue to KafkaApis](request-handlers.md).*
#
# A broker runs in this process, clients talk to it over TCP, and what its threads do is recorded from outside. The
# numbers below were measured when this page was built, on a machine that was doing other things as well; run the
# notebook on yours. Before you run a cell that ends in a question, answer it.

# %%
import queue
import random
import threading
import time

from kafka_lite.learn.network_runs import full_request_queue, network_watches
from kafka_lite.learn.recorded_run import Kind
from kafka_lite.learn.recording import Recording
from kafka_lite.learn.run_brokers import AS_IN_KAFKA, PRODUCE_VERSION, connect, in_thread, produce_of, running_broker
from kafka_lite.learn.runs import inline_produce_request, produce_request
from kafka_lite.learn.sequence_diagram import sequence_diagram
from kafka_lite.learn.time_line import time_line
from kafka_lite.network.request_channel import Request, RequestChannel
from kafka_lite.network.request_parser import InvalidRequestError, parse_request
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.kafka_request_handler import KafkaRequestHandlerPool

# %% [markdown]
# ## As in Kafka
#
# A producer connects, sends one record with `acks=1`, and waits for the answer. Every request is queued for the request
# handlers. **Through how many pairs of hands does it go, there and back?**

# %%
as_in_kafka = produce_request()
sequence_diagram(as_in_kafka)


# %%
def hand_overs(run):
    """What went from one thread to another, and how long it lay between them."""
    for pair in run.hand_overs():
        if pair.take is not None:
            ways = f"{run.actors[pair.put.thread]:20} → {run.actors[pair.take.thread]:20}"
            print(f"{pair.put.what:15} {ways} {pair.waited_ns / 1000:8.0f} µs")


hand_overs(as_in_kafka)

# %% [markdown]
# The connection makes two hops of its own, once in its life. The request makes two inside the broker: into the request
# queue and out of the response queue. *connection*, *request* and *answer* go through the kernel; they are the client's
# hops.
#
# ## Inline
#
# The same with this broker's defaults. **Which arrows are missing?**

# %%
inline = inline_produce_request()
sequence_diagram(inline)

# %%
hand_overs(inline)

# %% [markdown]
# The response still goes through the response queue, though the same thread puts and takes: what a handler does to
# answer is the same in both modes, and a request that had to wait in a purgatory is answered by yet another thread.
#
# ## No answer
#
# A request with `acks=0`. The client waits for nothing. **What comes back through the response queue?**

# %%
with (
    Recording(network_watches(), title="acks=0", paused=True) as recording,
    running_broker(AS_IN_KAFKA) as server,
    connect(server) as client,
    recording.running(),
):
    in_thread("producer", lambda: client.send(produce_of(b"hello", acks=0), PRODUCE_VERSION, expect_response=False))
    recording.wait_for("RequestChannel.PRODUCE v9")
no_answer = recording.run
sequence_diagram(no_answer)

# %% [markdown]
# A `NO_OP`, so that the processor unmutes the connection and reads the next request.
#
# ## What a hand-over costs
#
# One thread puts a number into a queue, another takes it and puts it into a second queue, from which the first takes
# it: two hand-overs for each turn. **How many function calls is one hand-over worth?**

# %%
TURNS = 5_000


def measure(name, times, work):
    """Wall-clock time and processor time of one of ``times``, in µs."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{name:34} {wall / times * 1e6:8.2f} µs, of which processor time {processor / times * 1e6:8.2f} µs")


def identity(thing):
    return thing


def call():
    for number in range(TURNS):
        identity(number)


def ping_pong(there, back):
    def echo():
        while (thing := there.get()) is not None:
            back.put(thing)

    def turns():
        for number in range(TURNS):
            there.put(number)
            back.get()

    thread = threading.Thread(target=echo)
    thread.start()
    measure(f"a hand-over by {type(there).__name__}", 2 * TURNS, turns)
    there.put(None)
    thread.join()


measure("a call", TURNS, call)
ping_pong(queue.SimpleQueue(), queue.SimpleQueue())
ping_pong(queue.Queue(), queue.Queue())

# %% [markdown]
# A hundred calls and more. Most of it is processor time, and not waiting: of the kernel, which makes a thread runnable
# and switches, and of two threads that pass the interpreter's lock to each other.
#
# Then the whole request, there and back, in both modes. The client is in this process too, so its time is in it.

# %%
REQUESTS = 500


def exchange_many(client):
    for _ in range(REQUESTS):
        client.exchange(produce_of(b"hello"), PRODUCE_VERSION)


for name, overrides in (("queued, as in Kafka", AS_IN_KAFKA), ("inline", {})):
    with running_broker(overrides) as server, connect(server) as client:
        exchange_many(client)  # what is done once is done
        measure(f"a produce request, {name}", REQUESTS, lambda: exchange_many(client))

# %% [markdown]
# ## How many handlers?
#
# A pool with stand-ins for `KafkaApis`. One of them *waits* 5 ms for each request, as for a disk; the other *computes*
# for 5 ms. There are 24 requests. **How long do they take with 1, 2, 4, 8 handlers?**


# %%
class Apis:
    """Counts what it has handled."""

    def __init__(self, work):
        self._work = work
        self.handled = threading.Semaphore(0)

    def handle(self, _request):
        self._work()
        self.handled.release()


def wait_5_ms():
    time.sleep(0.005)


def compute_5_ms():
    start = time.thread_time()
    while time.thread_time() - start < 0.005:
        pass


def a_request():
    header = RequestHeader(api_key=3, api_version=1, correlation_id=1, client_id="c")
    place = (0, "connection", "PLAINTEXT", "PLAINTEXT", "127.0.0.1")
    return Request(*place, header, MetadataRequest(), size_in_bytes=20, start_time_ms=0)


def time_of(work, handlers, requests=24):
    channel = RequestChannel(1, 500)
    apis = Apis(work)
    pool = KafkaRequestHandlerPool(handlers, channel, apis)
    start = time.perf_counter()
    for _ in range(requests):
        channel.dispatch(a_request())
    for _ in range(requests):
        apis.handled.acquire()
    taken = time.perf_counter() - start
    pool.shutdown()
    return taken * 1000


print("handlers   waiting   computing")
for handlers in (1, 2, 4, 8):
    print(f"{handlers:8} {time_of(wait_5_ms, handlers):6.0f} ms {time_of(compute_5_ms, handlers):8.0f} ms")

# %% [markdown]
# Waiting is shared, computing is not: one thread at a time runs Python. On a JVM the second column would shrink too, up
# to the number of processors. That is the reason of Kafka's default of eight handlers, and the reason why more of them
# help here only as far as handlers wait.
#
# ## A full queue
#
# Room for one request, one handler which is held up, one network thread. Four producers. **Which of them finds the
# network thread standing still?**

# %%
full = full_request_queue()
time_line(full)

# %%
for event in full:
    if event.kind in (Kind.CALL, Kind.RETURN) and event.what == "_wait_for_room":
        state = "stands still" if event.kind is Kind.CALL else "goes on"
        print(f"{event.time_ns / 1e6:7.2f} ms  the network thread {state}")

# %% [markdown]
# ## Bytes that are no request
#
# A Metadata request, in which bytes are exchanged at random, and which is cut off at random. **What share of them is
# still a request?** Whatever it is: nothing but `InvalidRequestError` may come out of the parser.

# %%
request = MetadataRequest(topics=[MetadataRequestTopic(name=f"topic-{number}") for number in range(5)])
good = encode_request(request, 1, 42, "client")
chance = random.Random(1)
parsed, reasons = 0, []
for _ in range(5_000):
    bad = bytearray(good)
    for _ in range(chance.randint(1, 4)):
        bad[chance.randrange(len(bad))] = chance.randrange(256)
    if chance.random() < 0.3:
        del bad[chance.randrange(len(bad)) :]
    try:
        parse_request(memoryview(bad))
        parsed += 1
    except InvalidRequestError as error:
        reasons.append(str(error))
print(f"{parsed / 50:.0f} % are requests, of topics with strange names; the others are not, for example:")
for reason in sorted(set(reasons), key=lambda text: (len(text), text))[::200][:6]:
    print("  ", reason)

# %% [markdown]
# ## Now you
#
# - Record two producers at once, inline and queued (`network_watches` do the rest). Where does the second wait?
# - Set `sys.setswitchinterval(0.0005)` above the table of handlers. Which column changes?
# - Let one handler of eight compute for a second. What happens to `exchange_many` meanwhile, in both modes?
