"""Tools that look after a cluster: topics, configurations, replicas, elections, offsets of partitions."""
