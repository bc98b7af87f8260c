"""Parts of scripts/gpu-check: plan.py has the table of its lines, and runner.py runs them."""
