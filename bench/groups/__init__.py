"""Consumer groups: how long a rebalance takes its members, and what a thousand groups cost that commit."""
