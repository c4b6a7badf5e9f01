"""The decisions of a participant: which messages it takes, and what a transition leaves in ZooKeeper."""
