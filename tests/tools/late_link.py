"""A link with latency on loopback: late_link.py PORT SECONDS. What comes in at the port that it prints goes to PORT, and
the answers back, each so long after it came. It ends with its input."""

import asyncio
import os
import sys

to, latency = int(sys.argv[1]), float(sys.argv[2])


async def carry(reader, writer):
    loop, under_way = asyncio.get_running_loop(), asyncio.Queue()

    async def arrive():
        while True:
            at, data = await under_way.get()
            await asyncio.sleep(at - loop.time())
            if not data:
                return writer.close()
            writer.write(data)
            await writer.drain()

    arriving = asyncio.create_task(arrive())
    while True:
        try:
            data = await reader.read(1 << 16)
        except OSError:
            data = b""
        under_way.put_nowait((loop.time() + latency, data))
        if not data:
            return await asyncio.gather(arriving, return_exceptions=True)


async def connected(reader, writer):
    while True:
        try:
            its_reader, its_writer = await asyncio.open_connection("127.0.0.1", to)
            break
        except OSError:  # no process listens yet
            await asyncio.sleep(0.1)
    await asyncio.gather(carry(reader, its_writer), carry(its_reader, writer))


async def serve():
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


asyncio.run(serve())
