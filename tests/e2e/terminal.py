# A program at the end of a pseudo-terminal, as a person would use it. SPDX-License-Identifier: MIT
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

TIMEOUT = 60


class Terminal:
    def __init__(self, args, env, columns=80, rows=24):
        self.main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

        def own_the_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(args, stdin=other, stdout=other, stderr=other, env=env,
                                        preexec_fn=own_the_terminal)
        os.close(other)
        self.text = ""  # all that was written
        self.seen = 0   # of it, what expect() has gone past

    def send(self, text):
        os.write(self.main, text.encode())

    def line(self, text):
        self.send(text + "\r")

    def _read(self, seconds):
        """False: nothing came, or the program has closed its end."""
        if not select.select([self.main], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.main, 65536)
        except OSError:
            return False
        self.text += data.decode(errors="replace")
        return data != b""

    def expect(self, pattern):
        """Waits until the pattern comes; returns what was written up to its end."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            found = re.compile(pattern, re.S).search(self.text, self.seen)
            if found:
                before = self.text[self.seen:found.end()]
                self.seen = found.end()
                return before
            if time.monotonic() > deadline or (not self._read(1) and self.process.poll() is not None):
                raise AssertionError(f"no {pattern!r} in {self.text[self.seen:]!r}")

    def prompt(self):
        """Waits for the prompt, and until keys go to the program one by one; without line editing they never do."""
        text = self.expect(r"(\A|[\r\n])[^\r\n]*> [^\r\n]*\Z")
        deadline = time.monotonic() + 1
        while termios.tcgetattr(self.main)[3] & termios.ICANON and time.monotonic() < deadline:
            time.sleep(0.002)
        return text

    def close(self):
        """The exit code, with all text read."""
        deadline = time.monotonic() + TIMEOUT
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.1)
        while self._read(0):
            pass
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"it does not end: {self.text[-500:]!r}")
        os.close(self.main)
        return self.process.returncode
