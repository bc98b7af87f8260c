"""The checker of the house language. `scripts/prose --help` describes its use, `rules.py` has the rules."""
