"""The group coordinator: who is in a consumer group, who consumes what, and how far everyone has come."""
