"""Inputs of a worker's samples: the random numbers that it draws, and the values in its data set. They show workers and
epochs that make the same samples. No random number is drawn, and only hashes are kept."""

import random
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Callable, Dict, Iterator, List, Tuple

from loaderscope_guest import library, walks
from loaderscope_guest.library import MESSAGE, now
from loaderscope_guest.wrong_data_samples import fingerprint

_DEEPEST = 3
_MOST = 200  # values that are looked at
_MOST_OF_LIST = 32
_LONGEST = 200  # characters of a name
_CODE = (ModuleType, type, FunctionType, MethodType, BuiltinFunctionType)
_PLAIN = (bool, int, float, str, type(None))


def _parts(value: Any) -> List[Tuple[str, Any]]:
    if type(value) in (list, tuple):
        return [(str(place), part) for place, part in enumerate(value[:_MOST_OF_LIST])]
    attributes = getattr(value, "__dict__", None)
    return list(attributes.items()) if isinstance(attributes, dict) else []


def list_values(dataset: Any) -> Iterator[Tuple[str, Any]]:
    """Names and values, breadth first: ("transform.p", 0.5). No more than a bounded number of them."""
    waiting: List[Tuple[str, Any, int]] = [("", dataset, 0)]
    looked_at = 0
    while waiting and looked_at < _MOST:
        name, value, depth = waiting.pop(0)
        looked_at += 1
        if 0 < len(name) <= _LONGEST:
            yield name, value
        if depth < _DEEPEST and not isinstance(value, _CODE + _PLAIN):
            waiting += [(f"{name}.{part}" if name else part, held, depth + 1) for part, held in _parts(value)]


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple) and len(value) <= _MOST_OF_LIST:
        return all(isinstance(part, _PLAIN) for part in value)
    return isinstance(value, _PLAIN) and (not isinstance(value, str) or len(value) < 1000)


def hash_settings(dataset: Any) -> Dict[str, str]:
    """Fingerprints of what a script would set: numbers, words, short lists of them."""
    return {name: fingerprint(repr(value).encode()) for name, value in list_values(dataset) if _is_plain(value)}


def list_generators(dataset: Any) -> Dict[str, Callable[[], bytes]]:
    """Returns the data set's random number generators, as functions that return their state."""
    found: Dict[str, Callable[[], bytes]] = {}
    for name, value in list_values(dataset):
        kind = f"{type(value).__module__}.{type(value).__name__}"
        if kind == "random.Random":
            found[name] = lambda generator=value: _python_state(generator.getstate())
        elif kind in ("numpy.random._generator.Generator", "numpy.random.mtrand.RandomState"):
            bits = value.bit_generator if hasattr(value, "bit_generator") else value._bit_generator
            found[name] = lambda bits=bits: _state_text(bits.state)
        elif kind in ("torch.Generator", "torch._C.Generator"):
            found[name] = lambda generator=value: generator.get_state().numpy().tobytes()
    return found


def _python_state(state: Any) -> bytes:
    """Python hashes numbers in the same way in all processes."""
    version, numbers, gauss_next = state
    return f"{version} {hash(numbers)} {gauss_next}".encode()


def _state_text(state: Any) -> bytes:
    if isinstance(state, dict):
        return b"".join(str(key).encode() + _state_text(value) for key, value in state.items())
    return state.tobytes() if hasattr(state, "tobytes") else repr(state).encode()


_OWN = "dataset."  # prefix of a generator that the data set holds


def _states(dataset: Any) -> Dict[str, str]:
    states = {"python": _python_state(random.getstate())}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        state = numpy.random.get_state()
        states["numpy"] = state[1].tobytes() + str(state[2]).encode()
    torch = sys.modules.get("torch")
    if torch is not None:
        states["torch"] = torch.random.get_rng_state().numpy().tobytes()
    for name, state_of in list_generators(dataset).items():
        states[_OWN + name] = state_of()
    return {name: fingerprint(state) for name, state in states.items()}


class FirstDraws:
    """Random numbers of one worker and epoch. The state of the generators is read before and after the first batch.
    Generators that the batch did not use are left out."""

    def __init__(self, making: Any) -> None:
        self._dataset = making.dataset
        begun = now()
        try:
            self._before = _states(self._dataset)
        finally:  # also after an exception of the program's objects, here and below
            walks.epochs_with_draws.spend(begun)

    def say(self, making: Any) -> None:
        begun = now()
        try:
            self._say(making)
        finally:
            walks.epochs_with_draws.spend(begun)

    def _say(self, making: Any) -> None:
        after = _states(self._dataset)
        used = [name for name, state in self._before.items() if after.get(name) != state]
        own: List[str] = [name for name in used if name.startswith(_OWN)]
        hashes = {name: self._before[name] for name in used if name not in own}
        if own:
            hashes["dataset"] = fingerprint("".join(self._before[name] for name in own).encode())
        library.say(what=MESSAGE.draws, iterator=making.iterator, generation=making.generation, worker=making.worker,
                    own=[name[len(_OWN):] for name in own], **hashes)


def say_settings(dataset: Any, **epoch: int) -> None:
    """Reports the settings of a data set at the beginning of an epoch. `epoch`: its iterator, its generation, and the worker if
    the data set is the copy of one."""
    if walks.epochs_with_settings.begins():
        begun = now()
        try:
            library.say(what=MESSAGE.settings, values=hash_settings(dataset), **epoch)
        finally:
            walks.epochs_with_settings.spend(begun)
