"""Requests to servers, by the libraries that make them, a row each. Those that stand on another one of them are counted there:
requests, urllib3, botocore and urllib by Python's own http.client, s3fs and gcsfs by aiohttp."""

import functools
from types import ModuleType
from typing import Any, Callable, NamedTuple, Optional, Tuple

from loaderscope_guest import hooks, messages
from loaderscope_guest.library import now
from loaderscope_guest.traffic import traffic

_MARK = "_loaderscope_request"  # in a connection's __dict__


def _count(request: str, status: Optional[int], size: Any, begun: int) -> None:
    with messages.never_failing("a request is"):
        traffic.answered(request, status, int(size) if size else 0, now() - begun)


def _asked(putrequest: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(putrequest)
    def asking(self: Any, method: Any, url: Any, *more: Any, **named: Any) -> None:
        scheme = "https" if self.default_port == 443 else "http"
        self.__dict__[_MARK] = (f"{method} {scheme}://{self.host}:{self.port}{url}", now())
        putrequest(self, method, url, *more, **named)

    return asking


def _answered(getresponse: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(getresponse)
    def answering(self: Any, *arguments: Any, **named: Any) -> Any:
        request, begun = self.__dict__.pop(_MARK, ("", now()))
        status = size = None
        try:
            response = getresponse(self, *arguments, **named)
            status, size = response.status, response.length
            return response
        finally:
            if request:
                _count(request, status, size, begun)

    return answering


def _by_aiohttp(start: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(start)
    async def starting(self: Any, *arguments: Any, **named: Any) -> Any:
        begun, status, size = now(), None, None
        try:
            response = await start(self, *arguments, **named)
            status, size = self.status, self.headers.get("Content-Length")
            return response
        finally:
            _count(f"{self.method} {self.url}", status, size, begun)

    return starting


def _by_httpx(send: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(send)
    def sending(self: Any, request: Any) -> Any:
        begun, status, size = now(), None, None
        try:
            response = send(self, request)
            status, size = response.status_code, response.headers.get("Content-Length")
            return response
        finally:
            _count(f"{request.method} {request.url}", status, size, begun)

    return sending


def _by_httpx_later(send: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(send)
    async def sending(self: Any, request: Any) -> Any:
        begun, status, size = now(), None, None
        try:
            response = await send(self, request)
            status, size = response.status_code, response.headers.get("Content-Length")
            return response
        finally:
            _count(f"{request.method} {request.url}", status, size, begun)

    return sending


def _by_s3_connector(method: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Its own client, in Rust, sees the answers, and asks in parts."""

    @functools.wraps(call)
    def calling(self: Any, bucket: Any, *more: Any, **named: Any) -> Any:
        begun = now()
        try:
            return call(self, bucket, *more, **named)
        finally:
            name = next((str(part) for part in (*more, *named.values()) if isinstance(part, str)), "")
            _count(f"{method} s3://{bucket}/{name}", 200, 0, begun)

    return calling


class Row(NamedTuple):
    module: str
    owner: str  # a class
    function: str  # of it
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]]


_S3 = "s3torchconnector._s3client._s3client"
TABLE: Tuple[Row, ...] = (
    Row("http.client", "HTTPConnection", "putrequest", _asked),
    Row("http.client", "HTTPConnection", "getresponse", _answered),
    Row("aiohttp.client_reqrep", "ClientResponse", "start", _by_aiohttp),
    Row("httpx._client", "Client", "_send_single_request", _by_httpx),
    Row("httpx._client", "AsyncClient", "_send_single_request", _by_httpx_later),
    Row(_S3, "S3Client", "get_object", functools.partial(_by_s3_connector, "GET")),
    Row(_S3, "S3Client", "head_object", functools.partial(_by_s3_connector, "HEAD")),
    Row(_S3, "S3Client", "list_objects", functools.partial(_by_s3_connector, "LIST")),
)


def _wrap(module: ModuleType, row: Row) -> None:
    owner = getattr(module, row.owner, None)
    function = vars(owner).get(row.function) if owner is not None else None
    if function is not None:
        setattr(owner, row.function, row.wrap(function))


def install() -> None:
    for row in TABLE:
        hooks.after_import(row.module, functools.partial(_wrap, row=row))
