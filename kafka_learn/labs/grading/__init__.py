"""``kafka-lite labs grade``: the answers of a class, each checked in a sandbox, in one signed report."""
