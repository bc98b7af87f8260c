"""at_terminal.py STEP... -- COMMAND...: a shell with job control runs COMMAND at a terminal of its own, as a user would.

Each step is one of these:
    &            starts COMMAND in the background
    expect=TEXT  waits for TEXT on the terminal
    type=TEXT    types TEXT, in which ^C and ^Z are keys
    stops        waits until the job has stopped
    fg           takes the job to the foreground

Prints the text of the terminal, and ends with the exit code of COMMAND, or 128 and the number of the signal that ended
it. Exit code 124: a step did not end within a minute.
"""
import os
import pty
import select
import signal
import sys
import time

KEYS = {"^C": "\x03", "^Z": "\x1a", "\\n": "\n"}


def run_shell(command, background, orders, reports):
    """In the session of the terminal: says "stopped" and "ended CODE", and receives "fg"."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    ready, go = os.pipe()
    job = os.fork()
    if job == 0:
        os.read(ready, 1)
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp(command[0], command)
    os.setpgid(job, job)
    if not background:
        os.tcsetpgrp(0, job)
    os.write(go, b"1")
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            code = os.WTERMSIG(status) + 128 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            os.write(reports, b"ended %d\n" % code)
            os._exit(0)
        os.write(reports, b"stopped\n")
        os.read(orders, 1)
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)


class Terminal:
    def __init__(self, command, background):
        orders, self.orders = os.pipe()
        self.reports, reports = os.pipe()
        shell, self.master = pty.fork()
        if shell == 0:
            run_shell(command, background, orders, reports)
        os.close(reports)
        self.shown = self.reported = b""
        self.seen = 0  # end of the shown text that earlier steps have matched

    def pump(self):
        """Takes in what comes. False: nothing comes any more."""
        ready, _, _ = select.select([self.master, self.reports], [], [], 1)
        for source in ready:
            try:
                part = os.read(source, 65536)
            except OSError:  # the terminal has no other end
                part = b""
            if source == self.master:
                self.shown += part
            else:
                self.reported += part
        return b"ended" not in self.reported

    def wait(self, is_reached):
        until = time.monotonic() + 60
        while not is_reached():
            if time.monotonic() > until:
                return False
            if not self.pump():
                return is_reached()
        return True

    def take(self, step):
        name, _, text = step.partition("=")
        if name == "expect":
            found = self.wait(lambda: text.encode() in self.shown[self.seen:])
            self.seen = self.shown.find(text.encode(), self.seen) + len(text.encode())
            return found
        if name == "type":
            for key, code in KEYS.items():
                text = text.replace(key, code)
            os.write(self.master, text.encode())
        elif name == "stops":
            found = self.wait(lambda: b"stopped\n" in self.reported)
            self.reported = self.reported.replace(b"stopped\n", b"", 1)
            return found
        elif name == "fg":
            os.write(self.orders, b"1")
        return True


def main(words):
    at = words.index("--")
    steps, command = words[:at], words[at + 1:]
    terminal = Terminal(command, steps[:1] == ["&"])
    missed = next((step for step in steps if step != "&" and not terminal.take(step)), None)
    if missed is None and not terminal.wait(lambda: b"ended" in terminal.reported):
        missed = "its end"
    while missed is None and select.select([terminal.master], [], [], 0)[0]:
        before = len(terminal.shown)
        terminal.pump()
        if len(terminal.shown) == before:
            break
    sys.stdout.write(terminal.shown.decode(errors="replace").replace("\r\n", "\n"))
    if missed is not None:
        print(f"at_terminal.py: not reached: {missed}")
        os.close(terminal.master)  # hangs up
        return 124
    return int(terminal.reported.split()[-1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
