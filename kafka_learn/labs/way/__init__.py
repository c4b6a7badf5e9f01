"""The way through the labs: their order, the state of a learner, and the next lab."""
