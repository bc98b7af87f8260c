"""A store that speaks S3 on loopback, by moto: s3_server.py FOLDER uploads FOLDER to the bucket "data", prints its port,
and serves until its input ends."""

import os
import sys

os.environ.update(AWS_ACCESS_KEY_ID="testing-key", AWS_SECRET_ACCESS_KEY="testing-secret", AWS_DEFAULT_REGION="us-east-1")

import boto3  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
port = server.get_host_and_port()[1]
s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}")
s3.create_bucket(Bucket="data")
folder = sys.argv[1]
for here, _, names in os.walk(folder):
    for name in names:
        path = os.path.join(here, name)
        s3.upload_file(path, "data", os.path.relpath(path, folder))
print(port, flush=True)
sys.stdin.read()
