"""A table whose keys are objects of the program, compared by identity. Their __hash__ and __eq__ are never called, as they may
need attributes that are not set yet. No object is kept alive."""

import weakref
from typing import Any, Dict, Iterator, Tuple


class IdentityMap:
    def __init__(self) -> None:
        self._known: Dict[int, Tuple[Any, Any]] = {}

    def put(self, thing: Any, value: Any) -> None:
        """An object to which nothing can refer weakly stays unknown."""
        known, place = self._known, id(thing)

        def forget(gone: Any) -> None:
            if known.get(place, (None,))[0] is gone:
                del known[place]

        try:
            known[place] = (weakref.ref(thing, forget), value)
        except TypeError:
            known.pop(place, None)

    def get(self, thing: Any, otherwise: Any = None) -> Any:
        found = self._known.get(id(thing))
        return found[1] if found is not None and found[0]() is thing else otherwise

    def things(self) -> Iterator[Any]:
        """The objects that are alive."""
        for reference, _ in list(self._known.values()):
            thing = reference()
            if thing is not None:
                yield thing
