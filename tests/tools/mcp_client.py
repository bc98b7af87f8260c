"""A client of `loaderscope mcp`, with Python's own modules alone."""

import json
import queue
import subprocess
import threading


class Client:
    """Starts the server. Use it in a `with` block, which ends the server."""

    def __init__(self, program, folder=None, environment=None):
        self.process = subprocess.Popen([program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder,
                                        env=environment)
        self._lines = queue.Queue()
        self._numbers = 0
        self.notifications = []
        self._answers = {}
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the server's input, and returns its exit code."""
        self.process.stdin.close()
        code = self.process.wait(60)
        self.process.stdout.close()
        return code

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)

    def send_line(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else line.encode())
        self.process.stdin.flush()

    def send(self, message):
        self.send_line(json.dumps(message) + "\n")

    def receive(self, seconds=60):
        """Returns the next message."""
        return json.loads(self._lines.get(timeout=seconds))

    def ask(self, method, **params):
        """Sends a request, and returns its id."""
        self._numbers += 1
        self.send({"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": params})
        return self._numbers

    def wait_for(self, number, seconds=120):
        """Returns the answer to a request. Keeps other messages."""
        while number not in self._answers:
            message = self.receive(seconds)
            if "method" in message:
                self.notifications.append(message)
            else:
                self._answers[message["id"]] = message
        return self._answers.pop(number)

    def request(self, method, **params):
        return self.wait_for(self.ask(method, **params))

    def initialize(self, version="2025-06-18"):
        answer = self.request("initialize", protocolVersion=version, capabilities={},
                              clientInfo={"name": "test", "version": "1"})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def ask_tool(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)

    def call(self, name, **arguments):
        """Returns the result of a tool."""
        return self.wait_for(self.ask_tool(name, **arguments), 600)["result"]
