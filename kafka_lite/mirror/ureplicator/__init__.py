"""uReplicator: MirrorMaker whose map from partition to worker is kept by a controller, with Apache Helix.

``controller`` decides which worker copies which partition. ``worker`` copies those that it is told to.

uReplicator kafka-0.10.2.1: uReplicator-Controller, uReplicator-Worker · book 8.2
"""
