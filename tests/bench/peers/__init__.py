"""`scripts/peers`: native against other data loaders, on the same files, in interleaved rounds of fresh processes."""
