"""An HTTP server of a folder, with ranges, that misbehaves as the URL says.

fault_server.py FOLDER: prints its port, and serves http://127.0.0.1:PORT/SWITCHES/-/FILE until its input ends; at the address
FAULT_SERVER_AT where that is set.
SWITCHES are separated by ',':
    latency=S       seconds before each answer
    fail=CODExN     the first N requests of each range are answered with CODE; x without N: all of them
    expire=N        after N answers in all, the error of a store that the session has expired
    huge            ranges are said to be of a far larger file
    retry_after=S   with such an answer
    short=N         the first N bodies of each range end in the middle, and the connection with them
    drop=N          the first N requests of each range get a closed connection
    stall=N         the first N bodies of each range stop in the middle, for as long as the client waits
    longer          bodies have more bytes than requested, and say so
    other           ranges begin elsewhere
    no_range        the whole file, whatever is asked for
    loop            redirects to itself
    chunked         whole files come without a length
    changes         each answer has another tag
    names=N         a store's listing of N objects, whose names have a thousand bytes each
    rate=N          N bytes per second, of all bodies together
    rate_each=N     N bytes per second, of each body by itself
GET /stats: {"requests": N, "most_at_once": N}.
"""

import hashlib
import http.server
import json
import os
import sys
import threading
import time

folder = sys.argv[1]
lock = threading.Lock()
seen = {}
contents = {}  # path -> (time, size and inode of the file), its bytes, its tag, its time of change
stats = {"requests": 0, "most_at_once": 0, "refused": 0}
at_once = 0
link_free = 0.0


def read_content(path):
    facts = os.stat(path)
    known = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
    with lock:
        if path in contents and contents[path][0] == known:
            return contents[path][1:]
    with open(path, "rb") as file:
        bytes_of_it = file.read()
    tag = hashlib.md5(bytes_of_it).hexdigest()
    with lock:
        contents[path] = (known, memoryview(bytes_of_it), tag, facts.st_mtime)
    return contents[path][1:]


def paced(body, rate):
    global link_free
    for at in range(0, len(body), 8192):
        piece = body[at : at + 8192]
        with lock:
            begin = max(time.monotonic(), link_free)
            link_free = begin + len(piece) / rate
        time.sleep(max(0.0, link_free - time.monotonic()))
        yield piece


def paced_alone(body, rate):
    begin = time.monotonic()
    for at in range(0, len(body), 4096):
        piece = body[at : at + 4096]
        time.sleep(max(0.0, begin + (at + len(piece)) / rate - time.monotonic()))
        yield piece


def first(kind, key, most):
    with lock:
        seen[kind, key] = seen.get((kind, key), 0) + 1
        return seen[kind, key] <= most


def make_listing(names, asked):
    begin = int(asked.partition("continuation-token=")[2].partition("&")[0] or 0)
    end = min(begin + 1000, names)
    prefix = asked.partition("prefix=")[2].partition("&")[0].replace("%2F", "/")
    keys = "".join(f"<Contents><Key>{prefix}{i:0996}.jpg</Key></Contents>" for i in range(begin, end))
    more = f"<NextContinuationToken>{end}</NextContinuationToken>" if end < names else ""
    return f"<ListBucketResult>{keys}{more}</ListBucketResult>".encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *words):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        global at_once
        if self.path == "/stats":
            return self.answer(200, json.dumps(stats).encode())
        with lock:
            at_once += 1
            stats["requests"] += 1
            stats["most_at_once"] = max(at_once, stats["most_at_once"])
        try:
            self.misbehave()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with lock:
                at_once -= 1

    def misbehave(self):
        switches, _, name = self.path.lstrip("/").partition("/-/")
        if not name:
            switches, name = "", self.path.lstrip("/")
        on = dict(word.partition("=")[::2] for word in switches.split(",") if word)
        wanted = self.headers.get("Range")
        key = (self.path, wanted)
        time.sleep(float(on.get("latency", 0)))
        if "loop" in on:
            return self.answer(302, Location=self.path)
        if "expire" in on and not first("expire", "", int(on["expire"])):
            return self.answer(400, b"<Error><Code>ExpiredToken</Code></Error>")
        if "fail" in on:
            code, _, most = on["fail"].partition("x")
            if first("fail", key, int(most or 1 << 30)):
                with lock:
                    stats["refused"] += 1
                extra = {"Retry_After": on["retry_after"]} if "retry_after" in on else {}
                return self.answer(int(code), b"<Error><Code>SlowDown</Code></Error>" if code == "503" else b"", **extra)
        if "drop" in on and first("drop", key, int(on["drop"])):
            self.close_connection = True
            return None
        if "names" in on:
            return self.answer(200, make_listing(int(on["names"]), self.path))
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            return self.answer(404)
        self.send(*read_content(path), wanted, on, key)

    def send(self, all_of_it, tag, changed, wanted, on, key):
        size = len(all_of_it)
        begin, end = 0, size
        is_part = wanted is not None and "no_range" not in on
        if is_part:
            begin, _, last = wanted.removeprefix("bytes=").partition("-")
            begin, end = int(begin), min(int(last) + 1, size)
            if begin >= size:
                return self.answer(416, Content_Range=f"bytes */{size}")
            if "other" in on and begin > 0:
                begin -= 1
                end -= 1
        body = all_of_it[begin:end]
        if "longer" in on:
            body = bytes(body) + b"more"
        cut = ("short" in on and first("short", key, int(on["short"]))) or (
            "stall" in on and first("stall", key, int(on["stall"]))
        )
        if "changes" in on:
            tag = str(time.time_ns())
        if self.headers.get("If-None-Match") == f'"{tag}"':
            return self.answer(304, ETag=f'"{tag}"')
        self.send_response(206 if is_part else 200)
        if is_part:
            said = 1 << 60 if "huge" in on else size
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{said}")
        self.send_header("ETag", f'"{tag}"')
        if "changes" not in on:
            self.send_header("Last-Modified", self.date_time_string(changed))
        if "chunked" in on and not is_part:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(body), 1000):
                piece = body[at : at + 1000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        pieces = (body,)
        if "rate" in on:
            pieces = paced(body, float(on["rate"]))
        if "rate_each" in on:
            pieces = paced_alone(body, float(on["rate_each"]))
        for piece in pieces:
            self.wfile.write(piece[: len(piece) // 2] if cut else piece)
        if not cut:
            return
        self.close_connection = True
        self.wfile.flush()
        if "stall" in on:
            self.rfile.read(1)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


server = Server((os.environ.get("FAULT_SERVER_AT", "127.0.0.1"), 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
