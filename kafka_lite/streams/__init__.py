"""Kafka Streams: a topology of processors over topics, with state.

A topology is declared with a :class:`~kafka_lite.streams.kstream.kstream_builder.KStreamBuilder`, by what is to happen
to the records, or with a :class:`~kafka_lite.streams.processor.topology_builder.TopologyBuilder`, node by node.
:class:`~kafka_lite.streams.kafka_streams.KafkaStreams` runs it: its tasks are shared by all instances of the
application. :class:`~kafka_lite.streams.topology_test_driver.TopologyTestDriver` runs it without a broker.

Kafka 0.10.2: streams/.../streams · book 9.1
"""
