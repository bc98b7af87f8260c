"""What the declared loader of job.py costs."""

BATCH = 8
MS = {"opaque": 4.0, "augment": 3.0, "collate": 16.0}  # of a sample, of a sample, of a batch
