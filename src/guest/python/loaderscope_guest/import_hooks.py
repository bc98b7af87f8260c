"""Calls us back when a module that we look at has been imported."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional, Tuple

Callback = Callable[[ModuleType], None]


class _LoaderAndThen:
    """Another loader, followed by our callbacks."""

    def __init__(self, loader: Any, callbacks: List[Callback]) -> None:
        self._loader = loader
        self._callbacks = callbacks

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _finder.ready.append(module.__name__)
        run_all(module, self._callbacks)
        _finder.ready.remove(module.__name__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _Finder:
    """First in sys.meta_path: the other finders find a module, and the callbacks run after its loader."""

    def __init__(self) -> None:
        self.callbacks: Dict[str, List[Callback]] = {}
        self.ready: List[str] = []  # modules that have been executed and whose callbacks run

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        catch_up()
        callbacks = self.callbacks.get(name)
        if callbacks is None:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is None:
                continue
            if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                spec.loader = _LoaderAndThen(spec.loader, callbacks)  # type: ignore[assignment]
            return spec
        return None


_finder = _Finder()


def run_all(module: ModuleType, callbacks: List[Callback]) -> None:
    """Also those that a callback adds meanwhile."""
    for callback in callbacks:
        try:
            callback(module)
        except Exception as error:
            _say_unhooked(f"{module.__name__} is not looked into: {error!r}")


def _say_unhooked(sentence: str) -> None:
    try:
        from loaderscope_guest import messages

        messages.degraded(sentence)
    except Exception:  # our library cannot be loaded
        from loaderscope_guest import settings

        settings.leave_word("program", sentence)


_under_way: List[Tuple[ModuleType, Callback]] = []  # modules that were being imported at registration


def _is_under_way(module: Any) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def catch_up() -> None:
    """With modules whose import, which had begun before we knew of them, is over: nothing calls us back then."""
    if _under_way:
        ready = [one for one in _under_way if not _is_under_way(one[0])]
        _under_way[:] = [one for one in _under_way if all(one is not other for other in ready)]
        for module, callback in ready:
            run_all(module, [callback])


def after_import(name: str, callback: Callback) -> None:
    """Calls `callback` with the module once it has been imported; now, if it has."""
    if name not in sys.modules or name in _finder.ready:
        _finder.callbacks.setdefault(name, []).append(callback)
    elif _is_under_way(sys.modules[name]):
        _under_way.append((sys.modules[name], callback))
    else:
        run_all(sys.modules[name], [callback])


def see_imports() -> bool:
    """Starts to observe imports. Returns False if they are observed already."""
    if _finder in sys.meta_path:
        return False
    sys.meta_path.insert(0, _finder)  # type: ignore[arg-type]
    return True
