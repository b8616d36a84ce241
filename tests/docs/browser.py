"""A headless Chromium, driven over its pipe (Chrome DevTools Protocol)."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Page:
    """One page of the browser."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back, self._rest, self._number = to, back, b"", 0
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        """What a method of the protocol gives."""
        return self._ask(method, self._session, **parameters)

    def _ask(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                more = os.read(self._back, 1 << 16)
                if not more:
                    raise EOFError("the browser has ended")
                self._rest += more
            line, _, self._rest = self._rest.partition(b"\0")
            told = json.loads(line)
            if told.get("id") == self._number:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']['message']}")
                return told["result"]

    def value(self, code: str) -> Any:
        """What an expression of JavaScript is in the page."""
        found = self.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{code}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait(self, code: str, seconds: float = 120.0) -> None:
        """Wait until an expression is true. Raises TimeoutError."""
        end = time.monotonic() + seconds
        while not self.value(code):
            if time.monotonic() > end:
                raise TimeoutError(f"{code} is not true after {seconds} s")
            time.sleep(0.2)


@contextmanager
def browser(chromium: str) -> Iterator[Page]:
    """A page of a Chromium of its own, which ends with the block."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()

    def streams() -> None:
        """The browser reads its file 3 and writes its file 4."""
        read, write = os.dup(theirs_in), os.dup(theirs_out)
        os.dup2(read, 3)
        os.dup2(write, 4)

    options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "about:blank")
    process = subprocess.Popen(
        [chromium, *options], preexec_fn=streams, close_fds=False, stderr=subprocess.DEVNULL
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Page(ours_out, ours_in)
    finally:
        process.terminate()
        process.wait(20)
        os.close(ours_out)
        os.close(ours_in)
