"""Rate of a program's loader over whole epochs, without the program's work between two epochs: a promise that was made
within an epoch covers the beginning of each epoch, and no validation."""

import statistics
from typing import Any, Dict, List, Optional


def _epochs(result: Dict[str, Any]) -> List[List[Dict[str, Any]]]:
    """The steps of each, of the first rank; the first and the last one may be a part of one."""
    epochs: List[List[Dict[str, Any]]] = []
    for step in result["steps"]:
        if step["rank"] != 0:
            continue
        if not epochs or epochs[-1][-1]["epoch"] != step["epoch"]:
            epochs.append([])
        epochs[-1].append(step)
    return epochs


def is_within_one(result: Dict[str, Any]) -> bool:
    return len({step["epoch"] for step in result["steps"] if not step["warmup"]}) < 2


def rate_of_whole_ones(result: Dict[str, Any]) -> Optional[float]:
    """Samples per second from each epoch's first ask until its last batch is trained on; None where none is whole."""
    whole = [steps for steps in _epochs(result)[:-1] if steps[0]["first_of_epoch"] and not steps[0]["warmup"]]
    if not whole:
        return None
    samples = sum(step["samples"] for steps in whole for step in steps)
    lasted = 0.0
    for steps in whole:
        # The last compute lasts until the program asks for its next batch, of whichever epoch.
        compute = statistics.median(step["compute_end_s"] - step["compute_begin_s"] for step in steps)
        lasted += steps[-1]["compute_begin_s"] + compute - steps[0]["ask_s"]
    return samples / lasted
