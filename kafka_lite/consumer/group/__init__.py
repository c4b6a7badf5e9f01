"""The member's side of group management: joining, heartbeats, commits."""
