"""on_terminal.py COLUMNS COMMAND...: the rows that a terminal shows whose standard error COMMAND has.

It handles line ends, carriage returns, clearing, and moves up. A full row continues in the next row
when more text follows.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

PIECES = re.compile(r"\x1b\[(\d*)([A-Z])|([\r\n])|([^\r\n\x1b]+)")


def render_rows(text, columns):
    rows, row, column = [""], 0, 0
    for count, command, move, words in PIECES.findall(text):
        if command == "A":
            row = max(0, row - int(count or 1))
        elif command == "K":
            rows[row] = rows[row][:column]
        elif command == "J":
            rows[row:] = [rows[row][:column]]
        elif move == "\r":
            column = 0
        elif move == "\n":
            row += 1
        for letter in words:
            if column == columns:
                row, column = row + 1, 0
            rows += [""] * (row + 1 - len(rows))
            rows[row] = rows[row].ljust(column)[:column] + letter + rows[row][column + 1:]
            column += 1
        rows += [""] * (row + 1 - len(rows))
    return [one.rstrip() for one in rows]


def read_all(terminal):
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # no process has the other end any more
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)


if __name__ == "__main__":
    width = int(sys.argv[1])
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    running = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    print("\n".join(render_rows(read_all(ours), width)))
    sys.exit(running.wait())
