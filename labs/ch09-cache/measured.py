"""What is measured: counts that change in a cache which is too small for them."""

import random

from kafka_lite.streams.record_cache.named_cache import LRUCacheEntry
from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext
from kafka_lite.streams.record_cache.thread_cache import ThreadCache

SHOWN = "read and write 1,000 counts of 300 keys in a cache for 200 of them, and flush it"
SHOWN_ZH = "在只放得下 200 个键的缓存里，读写 300 个键的 1,000 个计数，再刷出"
ROUNDS = 100


def prepare(_folder):
    flushed = []
    cache = ThreadCache("thread", 200 * 54)
    cache.set_dirty_entry_flush_listener("counts", flushed.extend)
    keys = [b"%03d" % number for number in range(300)]

    chosen = random.Random(9)
    order = [keys[min(chosen.randrange(300), chosen.randrange(300))] for _ in range(1000)]

    def one_round(_number):
        flushed.clear()
        missing = 0
        for at, key in enumerate(order):
            missing += cache.get("counts", key) is None
            context = ProcessorRecordContext(at, at, 0, "in")
            cache.put("counts", key, LRUCacheEntry(b"%04d" % at, context, is_dirty=True))
        cache.flush("counts")
        last = sorted((entry.new_value, entry.key) for entry in flushed)[-3:]
        return missing, len(flushed), last, cache.size_bytes

    return one_round
