"""An application of Streams in the simulator's world."""
