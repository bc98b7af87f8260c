"""Requests to servers, a row for each library that makes them. Libraries on top of another one are counted there:
requests, urllib3, botocore and urllib with Python's http.client, s3fs and gcsfs with aiohttp."""

import functools
from types import ModuleType, SimpleNamespace
from typing import Any, Callable, NamedTuple, Tuple

from loaderscope_guest import import_hooks, messages
from loaderscope_guest.library import now
from loaderscope_guest.batch_sizes import attribute
from loaderscope_guest.traffic import traffic

_MARK = "_loaderscope_request"  # key in a connection's __dict__
_NO_ANSWER_SEEN = SimpleNamespace(status=0, length=0)


class _Request:
    """A request from its beginning."""

    def __init__(self, name: Callable[[], str], begun: int = 0) -> None:
        """`name`: gives its method and address; it may fail."""
        self.begun = begun or now()
        self._name = name

    def answered(self, response: Any) -> None:
        """`response`: None where none came."""
        with messages.never_failing("a request is"):
            status = attribute(response, "status")
            status = attribute(response, "status_code") if status is None else status
            length = attribute(response, "length")
            if length is None:
                length = (attribute(response, "headers") or {}).get("Content-Length")
            traffic.answered(self._name(), status, int(length) if length else 0, now() - self.begun)


def _name_of(connection: Any, method: Any, url: Any) -> str:
    scheme = "https" if connection.default_port == 443 else "http"
    return f"{method} {scheme}://{connection.host}:{connection.port}{url}"


def _asked(putrequest: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(putrequest)
    def asking(self: Any, method: Any, url: Any, *more: Any, **named: Any) -> None:
        self.__dict__[_MARK] = (method, url, now())
        putrequest(self, method, url, *more, **named)

    return asking


def _answered(getresponse: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(getresponse)
    def answering(self: Any, *arguments: Any, **named: Any) -> Any:
        method, url, begun = self.__dict__.pop(_MARK, ("", "", 0))
        response = None
        try:
            response = getresponse(self, *arguments, **named)
            return response
        finally:
            if method:
                _Request(lambda: _name_of(self, method, url), begun).answered(response)

    return answering


def _count_aiohttp(start: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(start)
    async def starting(self: Any, *arguments: Any, **named: Any) -> Any:
        request, response = _Request(lambda: f"{self.method} {self.url}"), None
        try:
            response = await start(self, *arguments, **named)
            return response
        finally:
            request.answered(response)

    return starting


def _count_httpx(send: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(send)
    def sending(self: Any, request: Any) -> Any:
        made, response = _Request(lambda: f"{request.method} {request.url}"), None
        try:
            response = send(self, request)
            return response
        finally:
            made.answered(response)

    return sending


def _count_async_httpx(send: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(send)
    async def sending(self: Any, request: Any) -> Any:
        made, response = _Request(lambda: f"{request.method} {request.url}"), None
        try:
            response = await send(self, request)
            return response
        finally:
            made.answered(response)

    return sending


def _count_s3_connector(method: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Counts requests of the S3 connector. Its own client, in Rust, sees the answers, and requests objects in parts."""

    @functools.wraps(call)
    def calling(self: Any, bucket: Any, *more: Any, **named: Any) -> Any:
        key = next((part for part in (*more, *named.values()) if isinstance(part, str)), "")
        request = _Request(lambda: f"{method} s3://{bucket}/{key}")
        try:
            return call(self, bucket, *more, **named)
        finally:
            request.answered(_NO_ANSWER_SEEN)

    return calling


class Row(NamedTuple):
    module: str
    owner: str  # a class
    function: str  # method of the class
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]]


_S3 = "s3torchconnector._s3client._s3client"
TABLE: Tuple[Row, ...] = (
    Row("http.client", "HTTPConnection", "putrequest", _asked),
    Row("http.client", "HTTPConnection", "getresponse", _answered),
    Row("aiohttp.client_reqrep", "ClientResponse", "start", _count_aiohttp),
    Row("httpx._client", "Client", "_send_single_request", _count_httpx),
    Row("httpx._client", "AsyncClient", "_send_single_request", _count_async_httpx),
    Row(_S3, "S3Client", "get_object", functools.partial(_count_s3_connector, "GET")),
    Row(_S3, "S3Client", "head_object", functools.partial(_count_s3_connector, "HEAD")),
    Row(_S3, "S3Client", "list_objects", functools.partial(_count_s3_connector, "LIST")),
)


def _wrap(module: ModuleType, row: Row) -> None:
    owner = getattr(module, row.owner, None)
    function = vars(owner).get(row.function) if owner is not None else None
    if function is not None:
        setattr(owner, row.function, row.wrap(function))


def install() -> None:
    for row in TABLE:
        import_hooks.after_import(row.module, functools.partial(_wrap, row=row))
