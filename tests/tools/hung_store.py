"""A folder by FUSE, read only, whose server can fall silent: hung_store.py FOLDER MOUNT, as root.

Prints a line when FOLDER can be read at MOUNT, and serves it until its input ends. After SIGUSR1 it takes requests
and answers none: a process that asks waits in the kernel and cannot be killed, as for a file server that is gone. After
SIGUSR2 it takes none: a process that asks can be killed. When it ends, all waiting processes get an error.
"""

import ctypes
import errno
import os
import select
import signal
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 26, 27, 28, 29, 36, 42
DIRECT_IO = 1  # each read is a request: none is answered by the page cache
FOR_A_SECOND = struct.pack("<QI", 1, 0)

folder, mount = (os.path.abspath(path) for path in sys.argv[1:3])
libc = ctypes.CDLL(None, use_errno=True)
paths, numbers = {1: folder}, {folder: 1}
answers = takes = True


def answer_no_more(*_):
    global answers
    answers = False


def take_no_more(*_):
    global takes
    takes = False


def inode_number(path):
    if path not in numbers:
        numbers[path] = len(numbers) + 1
        paths[numbers[path]] = path
    return numbers[path]


def attributes(path):
    status = os.stat(path)
    times = [int(status.st_atime), int(status.st_mtime), int(status.st_ctime), 0, 0, 0]
    return struct.pack(
        "<6Q10I",
        *(inode_number(path), status.st_size, (status.st_size + 511) // 512),
        *times,
        *(status.st_mode, 1, 0, 0, 0, 4096, 0),
    )


def entries(path):
    packed = b""
    for at, name in enumerate(sorted(os.listdir(path)), start=1):
        kind = stat.S_IFMT(os.stat(os.path.join(path, name)).st_mode) >> 12
        text = os.fsencode(name)
        entry = struct.pack("<QQII", inode_number(os.path.join(path, name)), at, len(text), kind) + text
        packed += entry + b"\0" * (-len(entry) % 8)
    return packed


def answer_to(kind, path, body):
    if kind == INIT:
        major, minor, readahead, flags = struct.unpack_from("<4I", body)
        return struct.pack("<4I2H2I2H8I", 7, 31, readahead, 0, 16, 12, 1 << 17, 1, 32, 0, *[0] * 8)[:64]
    if kind == LOOKUP:
        child = os.path.join(path, os.fsdecode(body.rstrip(b"\0")))
        return struct.pack("<4Q", inode_number(child), 0, 1, 1) + struct.pack("<2I", 0, 0) + attributes(child)
    if kind == GETATTR:
        return struct.pack("<Q2I", 1, 0, 0) + attributes(path)
    if kind in (OPEN, OPENDIR):
        return struct.pack("<Q2I", 0, DIRECT_IO if kind == OPEN else 0, 0)
    if kind in (READ, READDIR):
        _, offset, size = struct.unpack_from("<QQI", body)
        if kind == READDIR:
            return entries(path) if offset == 0 else b""
        with open(path, "rb") as file:
            return os.pread(file.fileno(), size, offset)
    if kind == STATFS:
        return struct.pack("<5Q10I", 0, 0, 0, 0, 0, 4096, 255, 4096, *[0] * 7)
    if kind in (RELEASE, RELEASEDIR):
        return b""
    raise OSError(errno.ENOSYS, "not served")


def serve(device):
    request = os.read(device, 1 << 20)
    _, kind, unique, node = struct.unpack_from("<2I2Q", request)
    if kind in (FORGET, BATCH_FORGET, INTERRUPT) or not answers:
        return
    error, body = 0, b""
    try:
        body = answer_to(kind, paths.get(node, folder), request[40:])
    except OSError as failed:
        error = failed.errno
    os.write(device, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)


device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if libc.mount(b"hung", os.fsencode(mount), b"fuse.hung", 1, options) != 0:
    sys.exit(f"hung_store: {os.strerror(ctypes.get_errno())}")
signal.signal(signal.SIGUSR1, answer_no_more)
signal.signal(signal.SIGUSR2, take_no_more)
print("ready", flush=True)
try:
    while True:
        ready, _, _ = select.select([device, 0] if takes else [0], [], [])
        if device in ready and takes:
            serve(device)
        if 0 in ready and not os.read(0, 1):
            break
finally:
    libc.umount2(os.fsencode(mount), 2)
