"""Costs of the declared loader of job.py."""

BATCH = 8
MS = {"opaque": 4.0, "augment": 3.0, "collate": 16.0}  # ms per sample, per sample and per batch
