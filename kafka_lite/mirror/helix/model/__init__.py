"""The records of a Helix cluster, each with the names of its fields."""
