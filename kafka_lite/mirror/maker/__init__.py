"""MirrorMaker: consumers of one cluster, and a producer of another one that they share."""
