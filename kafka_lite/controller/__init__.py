"""The controller: the one broker that decides who leads which partition."""
