"""The wire: one declaration per message, compiled into plain encoders and decoders."""
