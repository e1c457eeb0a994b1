"""A real Chromium without a window, driven over a pipe in its own language (DevTools protocol)."""

from __future__ import annotations

import asyncio
import fcntl
import itertools
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

from tests.support.patience import PATIENCE

_ARGUMENTS: Final = (
    *("--headless", "--remote-debugging-pipe", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-default-browser-check", "--disable-dev-shm-usage"),
)

# It wants to read from 3 and to write to 4.
_START: Final = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def executable() -> str | None:
    """The Chromium of this machine, under any of its names."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


class Chromium:
    """A browser. Make it with `running`."""

    def __init__(self, reader: asyncio.StreamReader, writer: int) -> None:
        self._reader: Final = reader
        self._writer: Final = writer
        self._numbers: Final = itertools.count(1)
        self._answers: Final[dict[int, asyncio.Future[Any]]] = {}
        self._pages: Final[dict[str, Page]] = {}

    async def call(self, method: str, session: str = "", **parameters: Any) -> Any:
        """Calls a method of the protocol."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._writer, json.dumps(message).encode() + b"\0")
        async with asyncio.timeout(PATIENCE):
            return await answer

    async def listen(self) -> None:
        """Takes what it says, until it ends."""
        while data := await self._reader.readuntil(b"\0"):
            message = json.loads(data[:-1])
            if answer := self._answers.pop(message.get("id", 0), None):
                if "error" in message:
                    answer.set_exception(AssertionError(message["error"]))
                else:
                    answer.set_result(message["result"])
            elif message.get("method") == "Runtime.exceptionThrown":
                page = self._pages[message["sessionId"]]
                page.errors.append(str(message["params"]["exceptionDetails"]))

    async def open(self, address: str, *, beside: Page | None = None) -> Page:
        """A new page of somebody new, or of whom another one belongs to."""
        context = (
            beside.context
            if beside
            else (await self.call("Target.createBrowserContext"))["browserContextId"]
        )
        created = await self.call(
            "Target.createTarget", url="about:blank", browserContextId=context
        )
        target = created["targetId"]
        attached = await self.call("Target.attachToTarget", targetId=target, flatten=True)
        page = Page(self, attached["sessionId"], target, context)
        self._pages[attached["sessionId"]] = page
        await page.call("Runtime.enable")
        await page.call("Page.enable")
        await page.call("Network.enable")
        await page.size(1100, 900)
        await page.call("Page.navigate", url=address)
        await page.until("document.readyState === 'complete' && location.href !== 'about:blank'")
        return page


class Page:
    """One page of a browser."""

    def __init__(self, browser: Chromium, session: str, target: str, context: str) -> None:
        self._browser: Final = browser
        self._session: Final = session
        self._target: Final = target
        self.context: Final = context
        self.errors: Final[list[str]] = []
        """What its scripts did not catch."""

    async def call(self, method: str, **parameters: Any) -> Any:
        """Calls a method of the protocol for this page."""
        return await self._browser.call(method, self._session, **parameters)

    async def value(self, expression: str) -> Any:
        """What an expression is, in the page."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, expression: str) -> None:
        """Waits until an expression is true."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not await self.value(f"Boolean({expression})"):  # noqa: ASYNC110 (a page)
                    await asyncio.sleep(0.05)
        except TimeoutError:
            shown = await self.value("document.body.innerText")
            raise AssertionError(f"waited for {expression}; the page shows:\n{shown}") from None

    async def until_it_says(self, text: str) -> None:
        """Waits until the page shows a text."""
        await self.until(f"document.body.innerText.includes({json.dumps(text)})")

    async def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector finds."""
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        texts: list[str] = await self.value(f"{found}.map((element) => element.textContent)")
        return texts

    async def has(self, selector: str) -> bool:
        """Whether a selector finds something."""
        return bool(await self.texts(selector))

    async def click(self, selector: str, text: str = "") -> None:
        """Clicks on the first element of a selector, and of this text, in its middle."""
        where = await self.value(
            f"""(() => {{
              const all = [...document.querySelectorAll({json.dumps(selector)})];
              const element = all.find((one) => !{json.dumps(text)}
                || one.textContent === {json.dumps(text)});
              element?.scrollIntoView({{ block: "center", behavior: "instant" }});
              const box = element?.getBoundingClientRect();
              return box && [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )
        assert where, f"there is no {selector} {text}"
        mouse = {"x": where[0], "y": where[1], "button": "left", "clickCount": 1}
        await self.call("Input.dispatchMouseEvent", type="mousePressed", **mouse)
        await self.call("Input.dispatchMouseEvent", type="mouseReleased", **mouse)

    async def fill(self, selector: str, text: str) -> None:
        """Types a text into a field, in place of what is there."""
        await self.value(f"document.querySelector({json.dumps(selector)}).select()")
        await self.call("Input.insertText", text=text)

    async def choose(self, selector: str, option: str) -> None:
        """Chooses an option of a list."""
        await self.value(f"document.querySelector({json.dumps(selector)}).value = '{option}'")

    async def press(self, key: str) -> None:
        """Presses a key."""
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        code = {"Enter": 13, "Escape": 27, "ArrowRight": 39}.get(key, ord(key[0]))
        parameters = {"key": key, "text": text, "windowsVirtualKeyCode": code}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **parameters)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def offline(self, cut: bool) -> None:
        """Cuts it off from the network, or connects it again."""
        conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        await self.call("Network.emulateNetworkConditions", offline=cut, **conditions)

    async def size(self, width: int, height: int) -> None:
        """Makes the window of this size."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def close(self) -> None:
        """Closes it, as a person does."""
        await self._browser.call("Target.closeTarget", targetId=self._target)


@asynccontextmanager
async def running(program: str) -> AsyncGenerator[Chromium]:
    """A browser that nobody has used, until the end of the block."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    # Out of the way of the numbers that they will have.
    high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]
    for end in (theirs_in, theirs_out):
        os.close(end)
    as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _START, *map(str, high), program),
            *(*_ARGUMENTS, *as_root, f"--user-data-dir={profile}"),
            pass_fds=high,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        for end in high:
            os.close(end)
        reader = asyncio.StreamReader(limit=2**26)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours_in, "rb", buffering=0)
        )
        browser = Chromium(reader, ours_out)
        listening = asyncio.create_task(browser.listen())
        try:
            yield browser
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            transport.close()
            os.close(ours_out)
            process.terminate()
            try:
                async with asyncio.timeout(PATIENCE):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
