"""What a participant decides: which messages it takes, and what a transition leaves in ZooKeeper."""
