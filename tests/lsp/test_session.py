"""A session with the language server, over its real standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plx.formatting import formatted
from plx.source import Source
from tests.lsp.test_document import TEXT

CAPABILITIES = {"workspace": {"inlayHint": {"refreshSupport": True}}}


class Client:
    """Speaks JSON-RPC with a server process."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "plx", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.asked = 0
        self.told: list[dict[str, Any]] = []

    def send(self, method: str, params: Any, **more: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.write(body)

    def write(self, body: bytes) -> None:
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        size = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(size))

    def ask(self, method: str, params: Any) -> Any:
        """The answer to a request; what comes before it is kept in ``told``."""
        self.asked += 1
        self.send(method, params, id=self.asked)
        return self.reply(self.asked)

    def reply(self, asked: int) -> Any:
        """The answer to a request that was sent; requests of the server are granted."""
        while (message := self.read()).get("id") != asked or "method" in message:
            self.told.append(message)
            if "id" in message:
                body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": None}).encode()
                self.write(body)
        return message

    def diagnostics(self) -> list[dict[str, Any]]:
        """The next diagnostics that the server publishes."""
        while True:
            message = self.told.pop(0) if self.told else self.read()
            if message.get("method") == "textDocument/publishDiagnostics":
                return message["params"]["diagnostics"]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    made = Client()
    answer = made.ask(
        "initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": CAPABILITIES}
    )
    offered = answer["result"]["capabilities"]
    assert {"hoverProvider", "definitionProvider", "referencesProvider", "renameProvider"} <= set(offered)
    made.send("initialized", {})
    yield made
    made.ask("shutdown", None)
    made.send("exit", None)
    made.process.stdin.close()
    made.process.stdout.close()
    assert made.process.wait(30) == 0
    assert made.process.stderr.read() == b""
    made.process.stderr.close()


def at(uri: str, text: str, part: str, after: int = 0) -> dict[str, Any]:
    offset = text.index(part) + after
    line = text.count("\n", 0, offset)
    return {
        "textDocument": {"uri": uri},
        "position": {"line": line, "character": offset - (text.rfind("\n", 0, offset) + 1)},
    }


def test_a_session(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "friends.plx").as_uri()
    broken = TEXT.replace("query both(", "query bth(")
    item = {"uri": uri, "languageId": "plx", "version": 1, "text": broken}
    client.send("textDocument/didOpen", {"textDocument": item})
    (found,) = client.diagnostics()
    assert found["severity"] == 1 and "did you mean `both`?" in found["message"]
    assert found["range"]["start"] == {"line": 9, "character": 6}
    assert found["range"]["end"]["line"] == 9

    start, end = {"line": 9, "character": 6}, {"line": 9, "character": 9}
    change = {"range": {"start": start, "end": end}, "text": "both"}
    document = {"uri": uri, "version": 2}
    client.send("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
    assert client.diagnostics() == []

    hover = client.ask("textDocument/hover", at(uri, TEXT, "both(anna"))["result"]
    assert "smokes(anna) & smokes(bob)" in hover["contents"]["value"]

    target = client.ask("textDocument/definition", at(uri, TEXT, "both(anna"))["result"]
    assert target["uri"] == uri and target["range"]["start"] == {"line": 5, "character": 7}

    place = {**at(uri, TEXT, "both(anna"), "context": {"includeDeclaration": False}}
    assert len(client.ask("textDocument/references", place)["result"]) == 2

    edit = client.ask("textDocument/rename", {**at(uri, TEXT, "both(anna"), "newName": "pair"})["result"]
    assert [one["newText"] for one in edit["changes"][uri]] == ["pair"] * 3
    refused = client.ask("textDocument/rename", {**at(uri, TEXT, "both(anna"), "newName": "smokes"})
    assert "already" in refused["error"]["message"]

    offered = client.ask("textDocument/completion", at(uri, TEXT, "both(anna"))["result"]
    labels = {one["label"] for one in (offered["items"] if isinstance(offered, dict) else offered)}
    assert {"smokes", "anna", "weight"} <= labels

    options = {"tabSize": 4, "insertSpaces": True}
    edits = client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": options})[
        "result"
    ]
    assert [one["newText"] for one in edits] == [formatted(Source("friends", TEXT))]
    assert edits[0]["range"]["start"] == {"line": 0, "character": 0}

    client.send("textDocument/didClose", {"textDocument": {"uri": uri}})


def test_warnings_have_codes_and_data_is_read_beside_the_program(client: Client, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("value\nanna\n", encoding="utf-8")
    uri = (tmp_path / "new.plx").as_uri()
    text = 'type Person from "people.csv"\nrandom f(Person)\nrandom g\nweight 1: f(anna)\n'
    item = {"uri": uri, "languageId": "plx", "version": 1, "text": text}
    client.send("textDocument/didOpen", {"textDocument": item})
    (found,) = client.diagnostics()
    assert (found["severity"], found["code"]) == (2, "PLX102")
    (tmp_path / "people.csv").write_text("value\nbob\n", encoding="utf-8")
    client.send("textDocument/didSave", {"textDocument": {"uri": uri}})
    (found,) = client.diagnostics()
    assert found["severity"] == 1 and "`anna`" in found["message"]


COINS = """\
type Coin from "coins.csv"
random heads(Coin)
weight log(3): heads(c) for c in Coin
query heads(c) for c in Coin
query logz  # 𝄞
"""
SLOW = """\
type N = 1..60
random up(N, N)
weight 0.4 + r * c / 10000: up(r, c) = up(r + 1, c) for r, c in N if r < 60
weight 0.4: up(r, c) = up(r, c + 1) for r, c in N if c < 60
query up(1, 1)
"""


def test_queries_are_answered_when_asked_and_forgotten_when_the_text_changes(
    client: Client, tmp_path: Path
) -> None:
    (tmp_path / "coins.csv").write_text("value\npenny\ndime\n", encoding="utf-8")
    uri = (tmp_path / "coins.plx").as_uri()
    item = {"uri": uri, "languageId": "plx", "version": 1, "text": COINS}
    client.send("textDocument/didOpen", {"textDocument": item})
    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}

    def hints() -> list[tuple[int, int, str, str]]:
        params = {"textDocument": {"uri": uri}, "range": everywhere}
        found = client.ask("textDocument/inlayHint", params)["result"]
        return [(*one["position"].values(), one["label"], one["tooltip"]) for one in found]

    (lens,) = client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"]
    command = {name: lens["command"][name] for name in ("command", "arguments")}
    assert (lens["range"]["start"]["line"], command["arguments"]) == (3, [uri, 10.0])
    assert hints() == []  # nothing is run unasked

    done = client.ask("workspace/executeCommand", command)
    assert done.get("result") is True, done
    assert any(one.get("method") == "workspace/inlayHint/refresh" for one in client.told)
    coins, logz = hints()
    assert coins[:3] == (3, 28, "heads(penny): 0.750000, heads(dime): 0.750000")
    assert coins[3] == "heads(penny): 0.750000\nheads(dime): 0.750000"
    assert logz[:2] == (4, 10) and logz[2].startswith("log Z 2.77259")  # log 16

    def change(text: str) -> None:
        document = {"uri": uri, "version": 2}
        client.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    change(SLOW)
    assert hints() == []
    client.asked += 1
    running = client.asked
    client.send("workspace/executeCommand", {**command, "arguments": [uri, 3600]}, id=running)
    change("random a\nweight 1: a & !a\nrequire a & !a\nquery a\n")
    assert client.reply(running)["result"] is False

    assert client.ask("workspace/executeCommand", command)["result"] is False
    (said,) = (one["params"] for one in client.told if one.get("method") == "window/showMessage")
    assert said["type"] == 1 and "no world satisfies" in said["message"]
    assert hints() == []
