"""The new consumer: subscriptions, the fetcher, and the client's side of a consumer group."""
