"""Bytes that no client should send: a refusal for who sent them, and nothing for anybody else."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import grpc.aio
import httpx
import pytest

from odin_server.settings import Http
from odin_table.v1 import lobby_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.patience import PATIENCE
from tests.support.people import Refused, bearer, credential_of
from tests.support.raw_call import raw_call

INFO = "/odin_table.v1.LobbyService/GetServerInfo"
PATH = INFO.encode()
SECRET = b"Bearer secret\xffsecretsecretsecretsecretsecretsecr"


async def test_headers_that_are_not_utf8_are_refused_if_they_count_and_never_logged(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = await serve()
    with caplog.at_level(logging.DEBUG):
        assert b"base64url" in await raw_call(server.port, PATH, (b"authorization", SECRET))
        assert b"grpc-status\x010" in await raw_call(server.port, PATH, (b"x-other", SECRET))
        for service, method in (
            ("grpc.health.v1.Health", "Check"),
            ("grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo"),
        ):
            name = f"/{service}/{method}".encode()
            assert b"DecodeError" in await raw_call(server.port, name, body=b"\xff\xff")
    assert not [record.getMessage() for record in caplog.records if record.levelno > logging.INFO]


async def test_a_path_that_is_not_utf8_does_not_end_the_server(
    serve: Serve, meet: Meet, caplog: pytest.LogCaptureFixture
) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    await ann.open_table()
    await raw_call(server.port, b"/secret\xff/x")
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await ann.call(ann.lobby.GetServerInfo, lobby_pb2.GetServerInfoRequest())
            except Refused as refused:
                if refused.code not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
                    raise
            else:
                break
    assert len((await ann.call(ann.lobby.ListTables, lobby_pb2.ListTablesRequest())).tables) == 1
    assert not any(
        "secret" in f"{record.getMessage()} {record.exc_info}" for record in caplog.records
    )


@pytest.mark.parametrize("first", ["Ann", "Bob"])
async def test_two_credentials_in_a_call_are_refused(serve: Serve, meet: Meet, first: str) -> None:
    """Whichever comes first: nobody can tell for which of them the call was meant."""
    server = await serve(replace(QUICK, http=Http(host="127.0.0.1", port=0)))
    ann = meet(server, "Ann")
    both = sorted(("Ann", "Bob"), key=lambda name: name != first)
    headers = [("authorization", bearer(credential_of(name))) for name in both]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await ann.lobby.ListTables(lobby_pb2.ListTablesRequest(), metadata=tuple(headers))
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert "not two" in (caught.value.details() or "")
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.http_port}") as browser:
        answer = await browser.post(INFO, json={}, headers=httpx.Headers(headers))
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


async def test_what_is_wrong_over_http_is_said_in_connects_json(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = await serve(replace(QUICK, http=Http(host="127.0.0.1", port=0)))
    json = b"content-type: application/json"

    async def said(line: bytes, *headers: bytes) -> httpx.Response:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.http_port)
        request = b"\r\n".join(
            (line, b"host: x", b"content-length: 2", b"connection: close", *headers)
        )
        writer.write(request + b"\r\n\r\n{}")
        async with asyncio.timeout(PATIENCE):
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        status, *fields = head.decode().split("\r\n")
        if "Transfer-Encoding: chunked" in fields:
            body = body.partition(b"\r\n")[2].partition(b"\r\n")[0]
        return httpx.Response(
            int(status.split()[1]),
            headers=dict(field.split(": ", 1) for field in fields if "Transfer" not in field),
            content=body,
        )

    for line, status, code in (
        (b"POST %s/ HTTP/1.1" % PATH, 404, "unimplemented"),
        (b"POST /%s HTTP/1.1" % PATH, 404, "unimplemented"),
        (b"POST /odin_table.v1.LobbyService/%ff HTTP/1.1", 404, "unimplemented"),
        (b"POST /odin_table.v1.LobbyService/\xff HTTP/1.1", 400, "invalid_argument"),
        (b"GET %s HTTP/1.1" % PATH, 405, "unimplemented"),
    ):
        answer = await said(line, json)
        assert (answer.status_code, answer.json()["code"]) == (status, code), line
        assert answer.json()["message"]
    answer = await said(b"POST %s HTTP/1.1" % PATH, b"content-type: text/plain")
    assert (answer.status_code, answer.json()["code"]) == (415, "invalid_argument")
    answer = await said(b"POST /no/call HTTP/1.1", b"content-type: application/grpc-web+proto")
    assert (answer.status_code, answer.headers["grpc-status"]) == (200, "12")

    answer = await said(b"POST %s HTTP/1.1" % PATH, json, b"authorization: " + SECRET)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    answer = await said(b"POST %s HTTP/1.1" % PATH, json, b"x-other: " + SECRET)
    assert answer.status_code == 200
    assert not any(record.exc_info for record in caplog.records)
