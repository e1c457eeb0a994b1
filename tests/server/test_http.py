"""The way in over HTTP: the same calls, with the same checks, refusals, limits and presence."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import struct
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import (  # pyright: ignore[reportMissingTypeStubs] -- they are there, unmarked
    error_details_pb2,
)

from odin_server.edge.grpc_server import CannotListen
from odin_server.edge.page import NoPage
from odin_server.main import Server
from odin_server.settings import Http, Limits, Settings
from odin_table.v1 import event_pb2, lobby_pb2, play_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.patience import PATIENCE
from tests.support.people import Refused, bearer, credential_of, first_choice, told_until

OPEN = replace(QUICK, http=Http(host="127.0.0.1", port=0))
LOBBY = "odin_table.v1.LobbyService"
PLAY = "odin_table.v1.PlayService"


class Browser:
    """Whoever calls over HTTP, with a credential or without."""

    def __init__(self, server: Server, name: str = "") -> None:
        headers = {"authorization": bearer(credential_of(name))} if name else {}
        self.http = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{server.http_port}",
            headers=headers,
            timeout=PATIENCE,
            trust_env=False,
        )

    async def json(self, method: str, **request: Any) -> Any:
        """Calls in JSON; fails unless the answer is one."""
        response = await self.post(method, request)
        assert response.status_code == 200, response.text
        return response.json()

    async def post(self, method: str, request: Any, **headers: str) -> httpx.Response:
        return await self.http.post(f"/{method}", json=request, headers=headers)

    async def watch(
        self, kind: str, request: Message
    ) -> AsyncGenerator[tuple[int, play_pb2.WatchTableResponse | bytes]]:
        """The parts of a stream in protobuf: flags, and what they say it is."""
        data = request.SerializeToString()
        envelope = struct.pack(">BI", 0, len(data)) + data
        headers = {"content-type": kind}
        async with self.http.stream(
            "POST", f"/{PLAY}/WatchTable", content=envelope, headers=headers
        ) as response:
            assert response.status_code == 200
            async with aclosing(parts(response.aiter_raw())) as all_parts:
                async for flags, part in all_parts:
                    yield flags, part if flags else play_pb2.WatchTableResponse.FromString(part)


async def parts(chunks: AsyncIterator[bytes]) -> AsyncGenerator[tuple[int, bytes]]:
    """The parts of a stream: five bytes of flags and length before each."""
    held = b""
    async for chunk in chunks:
        held += chunk
        while len(held) >= 5 and len(held) >= 5 + (size := struct.unpack(">I", held[1:5])[0]):
            yield held[0], held[5 : 5 + size]
            held = held[5 + size :]


Come = Callable[..., Browser]


@pytest.fixture
async def come() -> AsyncGenerator[Come]:
    """Makes browsers, and closes them after the test."""
    browsers: list[Browser] = []

    def come_one(server: Server, name: str = "") -> Browser:
        browsers.append(Browser(server, name))
        return browsers[-1]

    yield come_one
    await asyncio.gather(*(browser.http.aclose() for browser in browsers))


async def refused(
    response: httpx.Response, status: int, code: str, reason: str
) -> dict[str, dict[str, Any]]:
    """Checks what a refusal says; gives its details in clear text, by their types."""
    said = response.json()
    assert (response.status_code, said["code"]) == (status, code), said
    details = {detail["type"]: detail["debug"] for detail in said["details"]}
    assert details["google.rpc.ErrorInfo"]["reason"] == reason
    assert details["google.rpc.ErrorInfo"]["domain"] == "odin-table"
    # What programs read says the same as the clear text.
    encoded = next(d["value"] for d in said["details"] if d["type"] == "google.rpc.ErrorInfo")
    info = error_details_pb2.ErrorInfo.FromString(base64.b64decode(encoded + "=="))
    assert json_format.MessageToDict(info) == details["google.rpc.ErrorInfo"]
    return details


async def test_a_whole_deal_is_played_in_json(serve: Serve, meet: Meet, come: Come) -> None:
    server = await serve(OPEN)
    ann = come(server, "Ann")
    options = {"seats": 3, "singleDeal": True}
    opened = await ann.json(f"{LOBBY}/CreateTable", requestId="1", options=options)
    table = opened["table"]
    listed = await come(server).json(f"{LOBBY}/ListTables")
    assert [one["table"] for one in listed["tables"]] == [table]
    await ann.json(f"{LOBBY}/TakeSeat", requestId="2", table=table, name="Ann")
    for number in ("3", "4"):
        await ann.json(f"{LOBBY}/AddBot", requestId=number, table=table)
    await ann.json(f"{LOBBY}/SetReady", requestId="5", table=table, ready=True)

    async with asyncio.timeout(PATIENCE):
        while True:
            view = (await ann.json(f"{PLAY}/GetView", table=table))["view"]
            if view["phase"] == "TABLE_PHASE_GAME_OVER":
                break
            decision = view.get("decision", {})
            if "choices" in decision:
                action = decision["choices"]["defaultAction"]
                number = f"act-{decision['id']}"
                request = {"table": table, "decisionId": decision["id"], "action": action}
                await ann.json(f"{PLAY}/Act", requestId=number, **request)
    assert view["game"]["winners"] is not None
    by_grpc = await meet(server, "Ann").view(table)
    assert json_format.ParseDict(view, table_pb2.TableView()) == by_grpc


async def test_a_request_id_is_one_whichever_way_it_comes(
    serve: Serve, meet: Meet, come: Come
) -> None:
    server = await serve(OPEN)
    opened = await come(server, "Ann").json(f"{LOBBY}/CreateTable", requestId="once")
    ann = meet(server, "Ann")
    again = await ann.call(ann.lobby.CreateTable, lobby_pb2.CreateTableRequest(request_id="once"))
    assert (again.table, again.replayed) == (opened["table"], True)


@pytest.mark.parametrize("kind", ["application/connect+proto", "application/grpc-web+proto"])
async def test_a_stream_is_the_one_that_grpc_sends(
    serve: Serve, meet: Meet, come: Come, kind: str
) -> None:
    server = await serve(OPEN)
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(seats=2, single_deal=True))
    watching = asyncio.create_task(events_over_http(come(server), kind, table))
    await ann.add_bot(table)
    await ann.add_bot(table)
    by_grpc = await told_until(meet(server, "Bob"), table)
    over_http = await watching
    assert over_http[: len(by_grpc)] == by_grpc


async def events_over_http(browser: Browser, kind: str, table: str) -> list[event_pb2.Event]:
    seen: list[event_pb2.Event] = []
    request = play_pb2.WatchTableRequest(table=table, after_seq=0)
    async with asyncio.timeout(PATIENCE), aclosing(browser.watch(kind, request)) as items:
        async for _, item in items:
            assert isinstance(item, play_pb2.WatchTableResponse)
            seen += item.events.events
            if any(event.HasField("game_ended") for event in item.events.events):
                break
    return seen


async def test_one_answer_over_grpc_web(serve: Serve, come: Come) -> None:
    browser = come(await serve(OPEN))
    response = await browser.http.post(
        f"/{LOBBY}/GetServerInfo",
        content=struct.pack(">BI", 0, 0),
        headers={"content-type": "application/grpc-web+proto"},
    )
    size = struct.unpack(">I", response.content[1:5])[0]
    info = lobby_pb2.GetServerInfoResponse.FromString(response.content[5 : 5 + size])
    assert info.revision == 1
    assert b"grpc-status: 0" in response.content[5 + size :]


async def test_refusals_say_what_grpc_says(serve: Serve, meet: Meet, come: Come) -> None:
    server = await serve(OPEN)
    ann, nobody, bob = come(server, "Ann"), come(server), come(server, "Bob")
    table = (await ann.json(f"{LOBBY}/CreateTable", requestId="1"))["table"]

    for request in (b"{", b"\xff\xff", b'{"pageSize": "many"}', b"[1]"):
        headers = {"content-type": "application/json"}
        response = await nobody.http.post(f"/{LOBBY}/ListTables", content=request, headers=headers)
        details = await refused(response, 400, "invalid_argument", "MALFORMED")
        assert details["google.rpc.BadRequest"]["fieldViolations"][0]["field"] == "message"
    headers = {"content-type": "application/proto"}
    response = await nobody.http.post(f"/{LOBBY}/ListTables", content=b"\xff", headers=headers)
    await refused(response, 400, "invalid_argument", "MALFORMED")

    seat = {"requestId": "2", "table": table, "name": "Bob"}
    response = await nobody.post(f"{LOBBY}/TakeSeat", seat)
    await refused(response, 401, "unauthenticated", "BAD_CREDENTIAL")
    response = await nobody.post(f"{LOBBY}/ListTables", {}, **{"odin-table-revision": "0"})
    details = await refused(response, 400, "failed_precondition", "CLIENT_TOO_OLD")
    assert details["google.rpc.ErrorInfo"]["metadata"] == {"needed_revision": "1"}
    response = await bob.post(f"{PLAY}/GetView", {"table": "none"})
    await refused(response, 404, "not_found", "TABLE_NOT_FOUND")
    response = await bob.post(f"{LOBBY}/StartGame", {"requestId": "3", "table": table})
    await refused(response, 403, "permission_denied", "NOT_ALLOWED")
    response = await ann.post(f"{LOBBY}/CreateTable", {"requestId": "1", "options": {"seats": 2}})
    await refused(response, 400, "invalid_argument", "REQUEST_ID_REUSED")


async def test_json_that_the_server_does_not_understand_is_refused_and_not_guessed(
    serve: Serve, meet: Meet, come: Come
) -> None:
    server = await serve(OPEN)
    ann = come(server, "Ann")
    response = await ann.post(
        f"{LOBBY}/CreateTable", {"requestId": "1", "options": {"visibility": "PRIVATE"}}
    )
    details = await refused(response, 400, "invalid_argument", "MALFORMED")
    (violation,) = details["google.rpc.BadRequest"]["fieldViolations"]
    assert violation["field"] == "options.visibility"
    assert '"PRIVATE" is not a Visibility' in response.json()["message"]
    for wrong in ("[]", '"x"', '{"requestId": "1", "options": []}'):
        response = await ann.post(f"{LOBBY}/CreateTable", json.loads(wrong))
        await refused(response, 400, "invalid_argument", "MALFORMED")
    assert not (await ann.json(f"{LOBBY}/ListTables")).get("tables")
    created = await ann.json(f"{LOBBY}/CreateTable", requestId="1", later={"visibility": "PRIVATE"})
    assert created["table"]


async def test_a_stream_that_is_refused_says_so_in_its_end(serve: Serve, come: Come) -> None:
    browser = come(await serve(OPEN))
    request = play_pb2.WatchTableRequest(table="none")
    async with aclosing(browser.watch("application/connect+proto", request)) as items:
        [(flags, end)] = [item async for item in items]
    assert flags == 2
    assert isinstance(end, bytes)
    error = json.loads(end)["error"]
    assert error["code"] == "not_found"
    assert error["details"][0]["debug"]["reason"] == "TABLE_NOT_FOUND"


async def test_what_is_no_call_gets_an_answer_in_words(serve: Serve, come: Come) -> None:
    browser = come(await serve(OPEN))
    for method, path, kind, status, words in (
        ("GET", "/", "", 200, "A call is a POST"),
        ("GET", "/nothing", "", 404, "nothing at /nothing"),
        ("POST", f"/{LOBBY}/NoCall", "application/json", 404, "no call"),
        ("GET", f"/{LOBBY}/ListTables", "", 405, "A call is a POST"),
        ("POST", f"/{LOBBY}/ListTables", "text/plain", 415, "application/json"),
        ("POST", f"/{PLAY}/WatchTable", "application/json", 415, "application/connect+json"),
    ):
        headers = {"content-type": kind} if kind else {}
        response = await browser.http.request(method, path, content=b"{}", headers=headers)
        assert (response.status_code, words in response.text) == (status, True), response.text


async def test_whoever_closes_the_page_is_away_at_once(
    serve: Serve, meet: Meet, come: Come
) -> None:
    server = await serve(OPEN)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    await ann.sit(table)
    await bob.sit(table)
    request = play_pb2.WatchTableRequest(table=table)
    async with aclosing(bob.watch(table)) as items:
        async with page_open(come(server, "Ann"), request):
            await present(items, seat=0, connected=True)
        await present(items, seat=0, connected=False)


@asynccontextmanager
async def page_open(browser: Browser, request: Message) -> AsyncGenerator[None]:
    """Watches until the end of the block, and then cuts the connection."""
    async with aclosing(browser.watch("application/connect+proto", request)) as items:
        await anext(items)
        yield


async def present(
    items: AsyncGenerator[play_pb2.WatchTableResponse], *, seat: int, connected: bool
) -> None:
    async for item in items:
        if any(one.seat == seat and one.connected == connected for one in item.presence.seats):
            return
    raise AssertionError("the stream ended")


async def test_limits_count_both_ways_in_as_one(serve: Serve, meet: Meet, come: Come) -> None:
    limits = replace(Limits(), streams_per_address=1, tables_per_credential=1)
    server = await serve(replace(OPEN, limits=limits))
    ann = meet(server, "Ann")
    table = await ann.open_table()
    response = await come(server, "Ann").post(f"{LOBBY}/CreateTable", {"requestId": "2"})
    details = await refused(response, 429, "resource_exhausted", "RATE_LIMITED")
    assert details["google.rpc.ErrorInfo"]["metadata"] == {"limit": "tables_per_credential"}
    assert float(details["google.rpc.RetryInfo"]["retryDelay"].rstrip("s")) > 0

    async with page_open(come(server), play_pb2.WatchTableRequest(table=table)):
        with pytest.raises(Refused) as caught:
            async with aclosing(meet(server, "Bob").watch(table)) as items:
                await anext(items)
        assert caught.value.facts == {"limit": "streams_per_address"}


async def test_nobody_says_where_their_own_calls_come_from(serve: Serve, come: Come) -> None:
    limits = replace(Limits(), calls_per_second_per_address=0.2)
    browser = come(await serve(replace(OPEN, limits=limits)))
    codes = [
        (await browser.post(f"{LOBBY}/ListTables", {}, **{"x-forwarded-for": f"10.0.0.{n}"}))
        for n in range(4)
    ]
    assert [response.status_code for response in codes] == [200, 200, 429, 429]


async def test_a_request_that_is_too_large_is_refused(serve: Serve, come: Come) -> None:
    browser = come(await serve(replace(OPEN, limits=replace(Limits(), message_bytes=1000))))
    response = await browser.post(f"{LOBBY}/ListTables", {"pageToken": "x" * 2000})
    assert response.status_code == 429
    assert response.json()["code"] == "resource_exhausted"


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"POST /odin_table",
        b"GET / HTTP/1.1\r\nhost: x\r\n\r\nGET /",
        b"POST /%b/ListTables HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        b"content-length: 50\r\n\r\n{" % LOBBY.encode(),
    ],
    ids=["nothing", "half a head", "half a second head", "half a body"],
)
async def test_nobody_holds_a_connection_without_asking_for_anything(
    serve: Serve, beginning: bytes
) -> None:
    server = await serve(replace(OPEN, keepalive=0.3, keepalive_timeout=0.2))
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.http_port)
        writer.write(beginning)
        with contextlib.suppress(ConnectionResetError):
            await reader.read()
        writer.close()


async def test_whoever_watches_may_be_silent(serve: Serve, meet: Meet, come: Come) -> None:
    server = await serve(replace(OPEN, keepalive=0.3, keepalive_timeout=0.2, heartbeat=0.2))
    table = await meet(server, "Ann").open_table()
    items = come(server).watch("application/connect+proto", play_pb2.WatchTableRequest(table=table))
    beats = 0
    async with asyncio.timeout(PATIENCE), aclosing(items):
        async for _, item in items:
            assert isinstance(item, play_pb2.WatchTableResponse)
            beats += item.HasField("heartbeat")
            if beats == 6:
                return
    raise AssertionError("the stream ended")


async def test_a_server_that_stops_tells_browsers_too(serve: Serve, meet: Meet, come: Come) -> None:
    server = await serve(replace(OPEN, drain_grace=3.0))
    table = await meet(server, "Ann").open_table()
    watcher, caller = come(server), come(server)
    await caller.json(f"{LOBBY}/ListTables")  # its connection is open
    request = play_pb2.WatchTableRequest(table=table)
    items = watcher.watch("application/connect+proto", request)
    async with aclosing(items):
        await anext(items)
        began = time.monotonic()
        stopping = asyncio.create_task(server.stop())
        said = [item async for _, item in items]
        await stopping
    assert time.monotonic() - began < PATIENCE
    *_, notice, end = said
    assert isinstance(notice, play_pb2.WatchTableResponse)
    assert notice.stream_end.reason == event_pb2.STREAM_END_REASON_DRAINING
    assert notice.stream_end.HasField("retry_after")
    assert end == b"{}", "and the stream ends without an error"


async def test_a_call_to_a_server_that_stops_is_refused(serve: Serve, come: Come) -> None:
    server = await serve(OPEN)
    browser = come(server)
    server._calls.draining = True  # pyright: ignore[reportPrivateUsage] -- the moment would be hard to meet
    response = await browser.post(f"{LOBBY}/ListTables", {})
    details = await refused(response, 503, "unavailable", "SERVER_DRAINING")
    assert details["google.rpc.RetryInfo"]["retryDelay"] == "2s"


async def test_whoever_does_not_read_gets_a_snapshot_when_they_do(serve: Serve, meet: Meet) -> None:
    server = await serve(replace(OPEN, snapshot_after=50, deal_pause=0.0))
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(seats=6, threshold=100))
    async with unread(server, table) as line:
        for _ in range(6):
            await ann.add_bot(table)
        head_seq = (await told_until(meet(server, "Bob"), table))[-1].seq

        read = 0
        seen: list[str] = []
        async with asyncio.timeout(PATIENCE), aclosing(parts(unchunked(line))) as items:
            async for _, part in items:
                read += len(part)
                item = play_pb2.WatchTableResponse.FromString(part)
                seen.append(str(item.WhichOneof("item")))
                if item.snapshot.seq >= head_seq:
                    break
        assert seen.count("snapshot") == 2, "the first, and one when they read on"
        assert read < 256 * 1024, "no more was kept for them"


@asynccontextmanager
async def unread(server: Server, table: str) -> AsyncGenerator[socket.socket]:
    """A line on which a stream was asked for, and nothing is read."""
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(line, ("127.0.0.1", server.http_port))
        request = play_pb2.WatchTableRequest(table=table).SerializeToString()
        body = struct.pack(">BI", 0, len(request)) + request
        head = (
            f"POST /{PLAY}/WatchTable HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n"
            "content-type: application/connect+proto\r\n\r\n"
        )
        await loop.sock_sendall(line, head.encode() + body)
        yield line


async def test_whoever_does_not_read_does_not_hold_up_the_end(
    serve: Serve, meet: Meet, caplog: pytest.LogCaptureFixture
) -> None:
    server = await serve(replace(OPEN, deal_pause=0.0))
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(seats=6, threshold=100))
    async with unread(server, table):
        for _ in range(6):
            await ann.add_bot(table)
        await told_until(meet(server, "Bob"), table)
        async with asyncio.timeout(PATIENCE):
            await server.stop()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def unchunked(line: socket.socket) -> AsyncGenerator[bytes]:
    """The body of an answer that comes in chunks."""
    loop = asyncio.get_running_loop()
    held = b""
    while b"\r\n\r\n" not in held:
        held += await loop.sock_recv(line, 4096)
    held = held.partition(b"\r\n\r\n")[2]
    while True:
        while b"\r\n" not in held:
            held += await loop.sock_recv(line, 4096)
        size_text, _, held = held.partition(b"\r\n")
        size = int(size_text, 16)
        while len(held) < size + 2:
            held += await loop.sock_recv(line, 4096)
        yield held[:size]
        held = held[size + 2 :]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    (folder / "deep").mkdir(parents=True)
    (folder / "index.html").write_text("<title>A page</title>")
    (folder / "deep" / "main.js").write_text("export {}")
    (folder / "folder.js").mkdir()
    (folder / ".hidden.js").write_text("hidden")
    (folder / "notes.doc").write_text("no part of a page")
    (tmp_path / "outside.txt").write_text("outside")
    return folder


async def test_a_page_is_shown_and_nothing_beside_it(serve: Serve, come: Come, page: Path) -> None:
    browser = come(await serve(shown(page)))
    response = await browser.http.get("/")
    assert response.text == "<title>A page</title>"
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in response.headers["content-security-policy"]
    assert (await browser.http.get("/deep/main.js")).text == "export {}"
    response = await browser.http.head("/")
    assert (response.status_code, response.content) == (200, b"")
    for path in ("/.hidden.js", "/notes.doc", "/%2e%2e/outside.txt", "/deep"):
        assert (await browser.http.get(path)).status_code == 404, path
    listed = await browser.json(f"{LOBBY}/ListTables")
    assert listed == {}, "calls go to the same address"


def shown(page: Path) -> Settings:
    return replace(OPEN, http=Http(host="127.0.0.1", port=0, page=page))


async def test_a_folder_without_a_page_stops_the_start(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(NoPage, match=r"no index\.html"):
        await serve(shown(tmp_path))


async def test_a_page_from_elsewhere_may_call_only_when_it_is_allowed(
    serve: Serve, come: Come
) -> None:
    friend, stranger = "https://friend.example", "https://stranger.example"
    http = Http(host="127.0.0.1", port=0, origins=(friend,))
    browser = come(await serve(replace(OPEN, http=http)))
    wish = {"access-control-request-method": "POST", "origin": friend}
    response = await browser.http.options(f"/{LOBBY}/ListTables", headers=wish)
    assert response.status_code == 204
    assert response.headers["access-control-allow-origin"] == friend
    assert "authorization" in response.headers["access-control-allow-headers"]
    response = await browser.post(f"{LOBBY}/ListTables", {}, origin=friend)
    assert response.headers["access-control-allow-origin"] == friend

    response = await browser.http.options(
        f"/{LOBBY}/ListTables", headers={**wish, "origin": stranger}
    )
    assert "access-control-allow-origin" not in response.headers
    response = await browser.post(f"{LOBBY}/ListTables", {}, origin=stranger)
    assert "access-control-allow-origin" not in response.headers


async def test_a_port_that_is_taken_stops_the_start(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match="--http HOST:PORT"):
            await serve(replace(OPEN, http=Http(host="127.0.0.1", port=port)))


async def test_an_act_names_its_decision_here_too(serve: Serve, meet: Meet, come: Come) -> None:
    server = await serve(OPEN)
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(seats=2))
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    async with aclosing(ann.events(table)) as events:
        decision = await anext(
            event.decision_opened.decision
            async for event in events
            if event.decision_opened.decision.HasField("choices")
        )
    action = json_format.MessageToDict(first_choice(decision.choices))
    request = {"requestId": "a", "table": table, "decisionId": decision.id}
    browser = come(server, "Ann")
    first = await browser.json(f"{PLAY}/Act", **request, action=action)
    again = await browser.json(f"{PLAY}/Act", **request, action=action)
    assert again == {**first, "replayed": True}
    response = await browser.post(f"{PLAY}/Act", {**request, "requestId": "b", "action": action})
    await refused(response, 409, "aborted", "STALE_DECISION")
