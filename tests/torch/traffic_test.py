"""Files, listings, requests and copied pages of a process, as they are counted, without PyTorch: traffic_test.py
LIBRARY, where LIBRARY is libloaderscope_guest.so. A package that is not here is skipped."""

import ast
import gc
import http.client
import http.server
import importlib
import os
import pathlib
import socket
import sys
import threading
import types
import unittest
import unittest.mock
import urllib.error
import urllib.request
import weakref

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest_test
import packages_test
from packages_test import Packages, needed, file_path


def setUpModule():
    packages_test.LIBRARY = LIBRARY
    packages_test.setUpModule()


def tearDownModule():
    packages_test.tearDownModule()


class Answers(http.server.BaseHTTPRequestHandler):
    """A server's, as they are named in what it is asked for: /503 the first time, /200 with 100 bytes."""

    protocol_version = "HTTP/1.1"
    came = []

    def do_GET(self):
        is_again = self.path in self.came
        self.came.append(self.path)
        wanted = int(self.path.split("/")[1])
        status = 200 if is_again else wanted
        body = bytes(100) if status == 200 else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", "/200/moved")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Requests(Packages):
    answers = Answers

    def setUp(self):
        super().setUp()
        from loaderscope_guest import requests_made, traffic

        if not Requests.are_counted:
            Requests.are_counted = True
            requests_made.install()
        self.traffic = traffic.traffic
        self.traffic.forget()
        Answers.came.clear()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.answers)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    are_counted = False


class Clients(Requests):
    def assert_counted(self, throttled=0, retries=0, failed=0):
        """Compares the counts with the requests that the server received."""
        counted = self.traffic
        self.assertEqual(counted.requests, len(Answers.came) + failed)
        self.assertEqual((counted.throttled, counted.retries, counted.failed), (throttled, retries, failed))
        self.assertEqual(counted.bytes, 100 * sum(path.startswith("/200") for path in Answers.came) + 100 * retries)
        self.assertGreater(counted.spent, 0)

    def test_counts_requests_of_urllib(self):
        for path in ("/200/a", "/302/b"):
            self.assertEqual(len(urllib.request.urlopen(self.address + path).read()), 100)
        with self.assertRaises(urllib.error.HTTPError):
            urllib.request.urlopen(self.address + "/503/c")
        self.assertEqual(Answers.came, ["/200/a", "/302/b", "/200/moved", "/503/c"])
        self.assert_counted(throttled=1)
        self.assertIn("read", self.stage_names())

    def test_counts_requests_without_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:  # an answer that came already could be read
            connection = http.client.HTTPConnection("127.0.0.1", silent.getsockname()[1])
            connection.request("GET", "/200/a")
            connection.sock.shutdown(2)
            with self.assertRaises(OSError):
                connection.getresponse()
        self.assertEqual((self.traffic.requests, self.traffic.failed), (1, 1))

    def test_closes_abandoned_connection_at_once(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port)
        connection.request("GET", "/200/a")
        gone = weakref.ref(connection)
        del connection
        self.assertIsNone(gone())

    def test_counts_requests_and_retries_of_requests(self):
        requests, adapters = needed("requests"), needed("requests.adapters")
        retry = needed("urllib3.util.retry").Retry(3, status_forcelist=[503, 429], backoff_factor=0.001)
        with requests.Session() as session:
            session.mount("http://", adapters.HTTPAdapter(max_retries=retry))
            for path in ("/200/a", "/503/b", "/429/c", "/200/d?signed=1"):
                self.assertEqual(len(session.get(self.address + path).content), 100)
        self.assertEqual(len(Answers.came), 6)
        self.assert_counted(throttled=2, retries=2)
        self.assertIn(f"GET {self.address}/200/d", self.traffic._names)

    def test_counts_requests_and_retries_of_botocore(self):
        boto3 = needed("boto3")
        client = boto3.client("s3", endpoint_url=self.address, aws_access_key_id="a", aws_secret_access_key="b",
                              region_name="us-east-1")
        self.traffic.forget()
        Answers.came.clear()
        self.assertEqual(len(client.get_object(Bucket="200", Key="a")["Body"].read()), 100)
        self.assert_counted()
        client.get_object(Bucket="503", Key="b")
        self.assertEqual(len(Answers.came), 3)
        self.assert_counted(throttled=1, retries=1)

    def test_counts_requests_of_aiohttp(self):
        aiohttp, asyncio = needed("aiohttp"), needed("asyncio")

        async def ask():
            async with aiohttp.ClientSession() as session:
                for path in ("/200/a", "/503/b", "/503/b"):
                    async with session.get(self.address + path) as response:
                        await response.read()

        asyncio.run(ask())
        self.assert_counted(throttled=1, retries=1)

    def test_counts_requests_and_bytes_of_fsspec(self):
        needed("aiohttp")
        files = needed("fsspec").filesystem("http", skip_instance_cache=True)
        self.ended_stages()
        self.assertEqual(len(files.cat_file(self.address + "/200/a")), 100)
        self.assertEqual(self.stage_bytes("read"), 100)
        self.assert_counted()

    def test_counts_requests_of_httpx(self):
        httpx = needed("httpx")
        with httpx.Client() as client:
            for path in ("/200/a", "/503/b", "/503/b"):
                client.get(self.address + path)
        self.assert_counted(throttled=1, retries=1)


class S3Answers(http.server.BaseHTTPRequestHandler):
    """A bucket's, which has one object of 1000 bytes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        is_list = "list-type" in self.path
        body = LISTED if is_list else bytes(1000)
        self.send_response(206 if self.headers.get("Range") else 200)
        if not is_list:
            self.send_header("Content-Range", "bytes 0-999/1000")
            self.send_header("ETag", '"x"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


LISTED = b"""<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>
<KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated><Contents><Key>a.bin</Key>
<LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>"x"</ETag><Size>1000</Size></Contents></ListBucketResult>"""


class S3Connector(Requests):
    answers = S3Answers

    def test_counts_bytes_and_requests(self):
        needed("torch")
        s3 = needed("s3torchconnector")
        with unittest.mock.patch.dict(os.environ, AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b"):
            data = s3.S3MapDataset.from_prefix(
                "s3://bucket/", region="us-east-1", endpoint=self.address,
                s3client_config=s3.S3ClientConfig(force_path_style=True))
            self.assertEqual(len(data), 1)
            self.ended_stages()
            self.assertEqual(len(data[0].read()), 1000)
        self.assertEqual(self.stage_bytes("read"), 1000)
        self.assertEqual(self.traffic.requests, 2)
        self.assertEqual(list(self.traffic._names)[:2], ["LIST s3://bucket/", "GET s3://bucket/a.bin"])


class Opens(Packages):
    def setUp(self):
        super().setUp()
        from loaderscope_guest import traffic

        self.traffic = traffic
        with open(file_path("opened"), "wb") as file:
            file.write(b"1")

    def counted(self):
        return [self.library.opened(what) for what in range(3)]

    def test_counts_and_names_opens_and_listings(self):
        traffic = self.traffic.Traffic()
        traffic.listen()
        before = self.counted()
        for _ in range(3):
            with open(file_path("opened"), "rb") as file:
                file.read()
        os.close(os.open(file_path("opened"), os.O_RDONLY))
        os.close(os.open(os.devnull, os.O_RDONLY))
        os.listdir(pathlib.Path(guest_test.FOLDER))
        list(os.scandir(guest_test.FOLDER))
        open(os.dup(0), closefd=True).close()
        self.assertEqual([now - then for now, then in zip(self.counted(), before)], [4, 0, 2])
        self.assertEqual(list(traffic._names), [file_path("opened"), "list " + guest_test.FOLDER])
        traffic._take_names()
        open(file_path("opened"), "rb").close()
        self.assertEqual(traffic._names, {})

    def test_separates_modules_from_files(self):
        with open(file_path("a_module.py"), "w") as file:
            file.write("VALUE = 3")
        before = self.counted()
        sys.path.insert(0, guest_test.FOLDER)
        self.addCleanup(sys.path.remove, guest_test.FOLDER)
        self.assertEqual(importlib.import_module("a_module").VALUE, 3)
        files, modules, listings = [now - then for now, then in zip(self.counted(), before)]
        self.assertEqual(files, 0)
        self.assertGreaterEqual(modules, 1)

    def test_raises_original_error_of_failed_open(self):
        self.traffic.Traffic().listen()
        with self.assertRaises(FileNotFoundError):
            open(file_path("none"), "rb")
        with self.assertRaises((OSError, UnicodeError)):
            open("\udcff\ud800", "rb")

    def test_counts_opens_of_child_separately(self):
        traffic = self.traffic.Traffic()
        traffic.listen()
        traffic._take_names()
        open(file_path("opened"), "rb").close()
        child = os.fork()
        if child == 0:
            before = self.library.opened(self.traffic.FILES)
            open(file_path("opened"), "rb").close()
            is_own = before == 0 and list(traffic._names) == [file_path("opened")]
            os._exit(0 if is_own else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Photos:
    """Data set with 50000 pairs of a name and a number."""

    def __init__(self):
        self.samples = [(f"folder/{number}.jpg", number) for number in range(50_000)]
        self.labels = {f"label {number}": str(number) for number in range(20_000)}
        self.few = ["a"] * 100
        self.inner = types.SimpleNamespace(words=[f"word {number}" for number in range(20_000)])


class CopiedPages(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import copied_pages

        self.data = Photos()
        self.copied = copied_pages.Copied()
        self.copied.note(self.data)

    def shares_in_child(self, touch):
        """Returns the copied share of each attribute."""
        reading, writing = os.pipe()
        gc.collect()  # a first collection stops tracking the pairs
        child = os.fork()
        if child == 0:
            gc.disable()
            touch()
            os.write(writing, repr([(name, share) for name, _, share in self.copied.shares()]).encode())
            os._exit(0)
        os.waitpid(child, 0)
        parts = ast.literal_eval(os.read(reading, 1 << 16).decode())
        os.close(reading)
        os.close(writing)
        return {name.split(" ")[0]: share for name, share in parts}

    def test_measures_pages_that_child_touched(self):
        self.assertEqual([part.name for part in self.copied.parts],
                         ["Photos.samples (list of 50000 tuple)", "Photos.labels (dict of 20000 str)",
                          "Photos.inner.words (list of 20000 str)"])
        size = self.copied.parts[0].size
        self.assertTrue(5_000_000 < size < 10_000_000, size)
        untouched = self.shares_in_child(lambda: None)
        touched = self.shares_in_child(lambda: [name for name, _ in self.data.samples])
        if 1 in untouched.values():
            self.skipTest("this kernel does not say which pages are shared")
        self.assertLess(untouched["Photos.samples"], 0.2)
        self.assertGreater(touched["Photos.samples"], 0.9)
        self.assertLess(touched["Photos.inner.words"], 0.3)

    def test_searches_each_data_set_once(self):
        """A program may take turns with those of training and validation."""
        from loaderscope_guest import copied_pages

        looked, others = [], [Photos() for _ in range(2)]
        with unittest.mock.patch.object(copied_pages, "_walk_parts", lambda name, data, until: looked.append(data) or iter(())):
            for _ in range(5):
                for data in others:
                    self.copied.note(data)
        self.assertEqual(len(looked), 2)
        self.copied.note(self.data)
        self.assertEqual(len(self.copied.parts), 3)

    def test_samples_first_entries_of_huge_dictionary(self):
        from loaderscope_guest import copied_pages

        (part,) = copied_pages._value_parts("labels", dict.fromkeys(range(3 * copied_pages._FARTHEST), 1.5))
        self.assertIn("dict of 600000", part.name)
        self.assertLess(len(part.places), 3 * copied_pages._LOOKS_AT)

    def test_measures_written_part_of_array(self):
        numpy = needed("numpy")
        self.data = types.SimpleNamespace(numbers=numpy.zeros(1_000_000))
        self.data.numbers[:] = 1
        self.copied.note(self.data)
        self.assertEqual([part.name for part in self.copied.parts], ["SimpleNamespace.numbers (array)"])

        def write():
            self.data.numbers[:500_000] = 2

        self.assertLess(self.shares_in_child(lambda: self.data.numbers.sum())["SimpleNamespace.numbers"], 0.1)
        self.assertAlmostEqual(self.shares_in_child(write)["SimpleNamespace.numbers"], 0.5, delta=0.1)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
