"""Share groups (KIP-932) in the simulator."""
