"""loaderscope mcp, from the outside: mcp_test.py PROGRAM."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mcp_client import Client

PARSE, INVALID, NO_METHOD, PARAMS = -32700, -32600, -32601, -32602
# Prints a line that looks like a message, says where it runs, and waits.
WAITS = """
import os, sys, time
print('{"jsonrpc": "2.0", "id": 1, "result": {}}', flush=True)
open("pid", "w").write(str(os.getpid()))
time.sleep(600)
"""


class McpCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="loaderscope-mcp-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "TMPDIR": folder.name}
        self.client = Client(PROGRAM, folder.name, environment)
        self.addCleanup(self.end)

    def end(self):
        if not self.client.process.stdin.closed:
            self.client.close()

    def expect_error(self, answer, code, text=""):
        self.assertEqual(answer["error"]["code"], code, answer)
        self.assertIn(text, answer["error"]["message"])

    def save_run(self, workers, name):
        subprocess.run([PROGRAM, "run", "--engine", "model", "--cost", "decode=10ms", "--compute", "10ms", "--batch",
                        "4", "--cores", "8", "--steps", "100", "--workers", str(workers), "--json", name],
                       cwd=self.folder, check=True, capture_output=True)
        return name

    def start_waiting_program(self):
        """Returns the id of the request and the id of the program's process."""
        (self.folder / "waits.py").write_text(WAITS)
        number = self.client.ask_tool("run", command=[sys.executable, "waits.py"])
        end = time.monotonic() + 60
        while time.monotonic() < end:
            text = (self.folder / "pid").read_text() if (self.folder / "pid").exists() else ""
            if text:
                return number, int(text)
            time.sleep(0.01)
        self.fail("the program did not start")

    def expect_gone(self, process):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                return
            time.sleep(0.01)
        self.fail("the program is still there")


class Protocol(McpCase):
    def test_accepts_known_versions(self):
        for version in ("2024-11-05", "2025-03-26", "2025-06-18"):
            self.assertEqual(self.client.initialize(version)["protocolVersion"], version)
        result = self.client.initialize("1999-01-01")
        self.assertEqual(result["protocolVersion"], "2025-06-18")
        self.assertEqual(result["serverInfo"]["name"], "loaderscope")
        self.assertIn("tools", result["capabilities"])
        self.expect_error(self.client.request("initialize"), PARAMS, "protocolVersion")

    def test_requires_initialize(self):
        self.expect_error(self.client.request("tools/list"), INVALID, "initialize")
        self.assertEqual(self.client.request("ping")["result"], {})

    def test_describes_tools(self):
        self.client.initialize()
        tools = {tool["name"]: tool for tool in self.client.request("tools/list")["result"]["tools"]}
        self.assertEqual(set(tools), {"run", "diagnose", "what_if", "explain", "compare", "apply"})
        for name, tool in tools.items():
            self.assertEqual(tool["inputSchema"]["type"], "object")
            self.assertEqual(tool["annotations"]["readOnlyHint"], name != "run")
            self.assertFalse(tool["annotations"]["destructiveHint"])
            self.assertIn("folder", tool["inputSchema"]["properties"])
        self.assertEqual(tools["run"]["inputSchema"]["required"], ["command"])
        self.assertEqual(tools["run"]["inputSchema"]["properties"]["command"]["type"], "array")

    def test_rejects_bad_messages(self):
        self.client.initialize()
        for line, code in (("garbage\n", PARSE), ("{\"jsonrpc\": \"2.0\", \n", PARSE), ("\xff\xfe\n", PARSE),
                           ("12\n", INVALID), ("[]\n", INVALID), ("{}\n", INVALID),
                           ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}\n', INVALID),
                           ('{"jsonrpc": "2.0", "id": null, "method": "ping"}\n', INVALID),
                           ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}\n', INVALID),
                           ('{"jsonrpc": "2.0", "id": 1, "method": 3}\n', INVALID),
                           ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}\n', PARAMS),
                           ("[" * 100_000 + "\n", PARSE)):
            with self.subTest(line[:40]):
                self.client.send_line(line.encode("latin-1"))
                self.expect_error(self.client.receive(), code)
        self.client.send_line("\n  \r\n")
        self.client.send({"jsonrpc": "2.0", "id": 7, "result": {}})
        self.client.send({"jsonrpc": "2.0", "method": "notifications/unknown"})
        self.expect_error(self.client.request("resources/list"), NO_METHOD, "resources/list")

    def test_skips_huge_line(self):
        self.client.initialize()
        self.client.send_line(b"x" * (9 << 20) + b"\n")
        self.expect_error(self.client.receive(), INVALID, "longer than")
        self.assertEqual(self.client.request("ping")["result"], {})

    def test_answers_batch_as_one_message(self):
        self.client.initialize("2025-03-26")
        ping = {"jsonrpc": "2.0", "method": "ping"}
        explain = {"name": "explain", "arguments": {"word": "decode"}}
        self.client.send([{**ping, "id": "a"}, {"jsonrpc": "2.0", "method": "notifications/x"}, 5,
                          {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": explain}])
        answers = {answer["id"]: answer for answer in self.client.receive()}
        self.assertEqual(answers["a"]["result"], {})
        self.assertEqual(answers[None]["error"]["code"], INVALID)
        self.assertFalse(answers["b"]["result"]["isError"])
        self.client.send([{"jsonrpc": "2.0", "method": "notifications/x"}])  # has no answer
        self.assertEqual(self.client.request("ping")["result"], {})

    def test_ends_with_its_input(self):
        self.client.initialize()
        self.assertEqual(self.client.close(), 0)
        self.assertEqual([path.name for path in self.folder.glob("loaderscope-mcp-*")], [])

    def test_ends_on_signal(self):
        self.client.initialize()
        self.client.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.client.process.wait(60), 143)


class Tools(McpCase):
    def setUp(self):
        super().setUp()
        self.client.initialize()

    def test_rejects_bad_arguments(self):
        for name, arguments, text in (("nothing", {}, "no tool"), ("run", {}, "command"),
                                      ("run", {"command": []}, "command"),
                                      ("run", {"command": "python"}, "list of texts"),
                                      ("run", {"command": [1]}, "list of texts"),
                                      ("run", {"command": ["a"], "steps": -1}, "whole number"),
                                      ("run", {"command": ["a"], "steps": 1e30}, "whole number"),
                                      ("run", {"command": ["a"], "try": 1}, "true or false"),
                                      ("run", {"command": ["a"], "folder": "/no/such"}, "not a folder"),
                                      ("run", {"command": ["a"], "other": 1}, "no such argument"),
                                      ("explain", {"word": "--help"}, "without a dash"),
                                      ("explain", {"word": 3}, "text"),
                                      ("what_if", {"set": ["a=1"], "result": "--json=x"}, "without a dash")):
            with self.subTest(name, arguments=arguments):
                self.expect_error(self.client.wait_for(self.client.ask_tool(name, **arguments)), PARAMS, text)
        self.expect_error(self.client.request("tools/call"), PARAMS, "name")
        self.expect_error(self.client.request("tools/call", name="run", arguments=[]), PARAMS, "no object")

    def test_explains_word(self):
        result = self.client.call("explain", word="too-few-workers")
        self.assertIn("too-few-workers", result["content"][0]["text"])
        self.assertEqual(result["structuredContent"]["exit_code"], 0)
        result = self.client.call("explain", word="nonsense-word")
        self.assertTrue(result["isError"])
        self.assertIn("nonsense-word", result["content"][0]["text"])

    def test_predicts_and_compares_results(self):
        before, after = self.save_run(2, "before.json"), self.save_run(4, "after.json")
        result = self.client.call("what_if", result=before, set=["num-workers=4"])["structuredContent"]
        self.assertAlmostEqual(result["samples_per_s_predicted"], 400)
        self.assertEqual(result["changes"], ["num-workers=4"])
        self.assertTrue(os.path.exists(result["result_file"]))
        result = self.client.call("compare", before=before, after=after)
        self.assertEqual(result["structuredContent"]["verdict"], "better")
        result = self.client.call("compare", before=before, after="none.json")
        self.assertTrue(result["isError"])
        self.assertIn("none.json", result["content"][0]["text"])

    def test_returns_reason_without_diff(self):
        result = self.client.call("apply", result=self.save_run(2, "r.json"))
        self.assertTrue(result["isError"])
        self.assertFalse(result["structuredContent"]["can_write"])
        self.assertIn("line that made the loader", result["structuredContent"]["reason"])

    def test_keeps_programs_output_out_of_protocol(self):
        code = "import sys; print('{}', input() if not sys.stdin.read() else '')"
        answer = self.client.wait_for(self.client.ask_tool("run", command=[sys.executable, "-c", code]))
        self.assertTrue(answer["result"]["isError"])
        self.assertIn("EOFError", answer["result"]["content"][0]["text"])

    def test_works_in_folder(self):
        (self.folder / "inner").mkdir()
        (self.folder / "inner" / "names.py").write_text("raise SystemExit('reached ' + __file__)")
        result = self.client.call("run", command=[sys.executable, "names.py"], folder="inner")
        self.assertIn("reached ", result["content"][0]["text"])

    def test_ends_program_of_cancelled_call(self):
        number, process = self.start_waiting_program()
        self.assertEqual(self.client.request("ping")["result"], {})
        self.assertFalse(self.client.call("explain", word="decode")["isError"])  # while the other one runs
        self.client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        self.expect_gone(process)
        waiting = self.client.call("run", command=[sys.executable, "-c", "print(1)"])  # after it, not before
        self.assertTrue(waiting["isError"])
        with self.assertRaises(AssertionError):
            self.assertIn(number, self.client._answers)  # a cancelled request has no answer

    def test_ends_program_with_its_input(self):
        _, process = self.start_waiting_program()
        self.client.close()
        self.expect_gone(process)

    def test_ends_program_after_time_limit(self):
        (self.folder / "waits.py").write_text(WAITS)
        number = self.client.ask("tools/call", name="run", _meta={"progressToken": "p"},
                                 arguments={"command": [sys.executable, "waits.py"], "timeout_s": 1})
        result = self.client.wait_for(number)["result"]
        self.assertIn("timeout_s sets the limit", result["content"][0]["text"])
        self.assertTrue(result["structuredContent"]["out_of_time"])
        progress = [each["params"]["progress"] for each in self.client.notifications]
        self.assertEqual(progress, sorted(set(progress)))
        self.assertTrue(all(each["params"]["progressToken"] == "p" for each in self.client.notifications))

    def test_runs_measurements_one_after_another(self):
        code = "import os, time; os.mkdir('alone'); time.sleep(0.3); os.rmdir('alone'); raise SystemExit('alone')"
        numbers = [self.client.ask_tool("run", command=[sys.executable, "-c", code]) for _ in range(3)]
        for number in numbers:
            text = self.client.wait_for(number)["result"]["content"][0]["text"]
            self.assertNotIn("FileExistsError", text)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
