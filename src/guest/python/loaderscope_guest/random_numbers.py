"""Which random numbers a worker draws for the first batch of an epoch, so that workers and epochs that draw the same
ones are noticed. Nothing is drawn, and generators that the batch did not use say nothing."""

import random
import sys
from typing import Any, Dict, List

from loaderscope_guest import dataset_values, library
from loaderscope_guest.fingerprint import fingerprint
from loaderscope_guest.protocol import MESSAGE

_OWN = "dataset."  # in front of the name of a generator that the data set holds


def _states(dataset: Any) -> Dict[str, str]:
    states = {"python": repr(random.getstate()).encode()}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        state = numpy.random.get_state()
        states["numpy"] = state[1].tobytes() + str(state[2]).encode()
    torch = sys.modules.get("torch")
    if torch is not None:
        states["torch"] = torch.random.get_rng_state().numpy().tobytes()
    for name, state_of in dataset_values.generators_of(dataset).items():
        states[_OWN + name] = state_of()
    return {name: fingerprint(state) for name, state in states.items()}


class FirstDraws:
    """Of one worker and epoch: looked at before and behind the first batch."""

    def __init__(self, making: Any) -> None:
        self._dataset = making.dataset
        self._before = _states(self._dataset)

    def say(self, making: Any) -> None:
        after = _states(self._dataset)
        used = [name for name, state in self._before.items() if after.get(name) != state]
        own: List[str] = [name for name in used if name.startswith(_OWN)]
        hashes = {name: self._before[name] for name in used if name not in own}
        if own:
            hashes["dataset"] = fingerprint("".join(self._before[name] for name in own).encode())
        library.say(what=MESSAGE.draws, iterator=making.iterator, generation=making.generation, worker=making.worker,
                    own=[name[len(_OWN):] for name in own], **hashes)
