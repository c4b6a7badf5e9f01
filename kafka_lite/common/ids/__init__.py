"""Random ids of topics and clusters, as they are written where people read them."""
