"""What scripts/gpu-check does: plan.py is the table of its lines, runner.py runs them."""
