"""Training jobs that ask a server, and map a file, each a function: traffic.py NAME WORKERS. The last line that the first prints
is JSON: what came to the server."""

import http.server
import json
import os
import sys
import tempfile
import threading
import urllib.error
import urllib.request

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

CAME = []
REFUSED = set()


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers of 1000 bytes; each worker's first question is answered with 503."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        CAME.append(self.path)
        is_refused = self.path.startswith("/index") and self.path not in REFUSED
        REFUSED.add(self.path)
        body = b"" if is_refused else bytes(1000)
        self.send_response(503 if is_refused else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


SERVER = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
ADDRESS = f"http://127.0.0.1:{SERVER.server_port}"


def ask(path):
    with urllib.request.urlopen(ADDRESS + path) as answer:
        return answer.read()


class Objects(Dataset):
    """One request for a sample; a worker lists a folder and asks for the index, twice, before its first."""

    index = None

    def __init__(self):
        self.names = [(f"folder/{number}.jpg", number) for number in range(100_000)]

    def __len__(self):
        return 64

    def __getitem__(self, number):
        name, _ = self.names[number * 1500]
        if self.index is None:
            os.listdir(os.path.dirname(os.path.abspath(__file__)))
            path = f"/index?worker={torch.utils.data.get_worker_info().id}"
            try:
                self.index = ask(path)
            except urllib.error.HTTPError:
                self.index = ask(path)
        return torch.full((4,), float(len(ask(f"/{number}"))))


def train(loader):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()


def objects(workers):
    threading.Thread(target=SERVER.serve_forever, daemon=True).start()
    train(DataLoader(Objects(), batch_size=4, num_workers=workers))
    print(json.dumps({"came": len(CAME), "refused": len(REFUSED & {path for path in CAME if "index" in path})}), flush=True)


def get_batch():
    """Mimics nanoGPT's function."""
    starts = torch.randint(len(TOKENS) - 4096, (64,))
    return torch.stack([torch.from_numpy(TOKENS[at : at + 4096].astype(numpy.int64)) for at in starts])


def mapped(workers):
    global TOKENS
    with tempfile.NamedTemporaryFile() as file:
        numpy.zeros(1 << 24, numpy.uint16).tofile(file)
        TOKENS = numpy.memmap(file.name, numpy.uint16, "r")
        model = torch.nn.Linear(4096, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
        for _ in range(60):
            optimizer.zero_grad()
            model(get_batch().float()).sum().backward()
            optimizer.step()


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]))
