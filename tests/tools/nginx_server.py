"""nginx on loopback: nginx_server.py FOLDER serves FOLDER by HTTP, and by HTTPS with HTTP/2, until its input ends.

Prints a line: the port of HTTP, that of HTTPS, and the file of the certificate, which is self-signed. Ends with 1 if
nginx or openssl is missing. Its own files are in FOLDER/.nginx.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

folder = os.path.abspath(sys.argv[1])
own = os.path.join(folder, ".nginx")
nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
if nginx is None or shutil.which("openssl") is None:
    sys.exit(1)
os.makedirs(own, exist_ok=True)
certificate, key = os.path.join(own, "certificate.pem"), os.path.join(own, "key.pem")
subprocess.run(
    ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate]
    + ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
    check=True,
    stdin=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)


def free_ports():
    servers = [socket.socket() for _ in range(2)]
    for server in servers:
        server.bind(("127.0.0.1", 0))
    ports = [server.getsockname()[1] for server in servers]
    for server in servers:
        server.close()
    return ports


temporary = "".join(
    f"  {kind}_temp_path {own}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
)
CONFIGURATION = f"""daemon off;
master_process off;
pid {own}/pid;
error_log {own}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
{temporary}  server {{
    listen 127.0.0.1:PLAIN;
    listen 127.0.0.1:SECURE ssl http2;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    root {folder};
  }}
}}
"""


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def started(ports):
    path = os.path.join(own, "nginx.conf")
    with open(path, "w") as file:
        file.write(CONFIGURATION.replace("PLAIN", str(ports[0])).replace("SECURE", str(ports[1])))
    process = subprocess.Popen(
        [nginx, "-c", path, "-p", own], preexec_fn=end_with_parent, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", ports[1])).close()
            return process
        except OSError:
            time.sleep(0.01)
    return None


for _ in range(5):  # somebody else may take a port in between
    ports = free_ports()
    process = started(ports)
    if process is not None:
        print(*ports, certificate, flush=True)
        sys.stdin.read()
        process.kill()
        sys.exit(0)
sys.exit(1)
