"""A world from a seed, in which unmodified brokers and clients run.

In it, threads, clocks, sockets and disks come from the seed. The same seed gives the same run, event by event.
"""
