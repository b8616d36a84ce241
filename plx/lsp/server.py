"""The language server: requests of editors, answered from documents."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from plx.errors import Diagnostic, PlxError
from plx.formatting import formatted
from plx.lsp.answers import SECONDS, NoAnswersError, answers, beside, first_query
from plx.lsp.completion import completions
from plx.lsp.document import Document, RenameError, read
from plx.lsp.hover import hover
from plx.lsp.occurrences import Occurrence
from plx.lsp.positions import from_editor, to_editor
from plx.source import Source, Span

if TYPE_CHECKING:
    from plx.answer.named import NamedAnswer

ANSWER = "plx.answer"
"""The command that runs a program: its address, and the seconds that it may take."""

_KINDS = {
    "declared": types.CompletionItemKind.Function,
    "variable": types.CompletionItemKind.Variable,
    "symbol": types.CompletionItemKind.EnumMember,
    "word": types.CompletionItemKind.Keyword,
}


class PlxServer(LanguageServer):
    """Keeps each open program as it was last read."""

    def __init__(self) -> None:
        from importlib.metadata import version

        super().__init__("plx", version("plx"))
        self._read: dict[str, Document] = {}
        self._runs: dict[str, asyncio.Task[Sequence[NamedAnswer]]] = {}
        self._answers: dict[str, tuple[str, Sequence[NamedAnswer]]] = {}

    def document(self, uri: str) -> Document:
        """The program at an address, read anew if its text has changed."""
        text = self.workspace.get_text_document(uri).source
        known = self._read.get(uri)
        if known is None or known.source.text != text:
            path = to_fs_path(uri)
            known = read(Source(path or uri, text), Path(path).parent if path else Path())
            self._read[uri] = known
            self.stop(uri)
        return known

    def forget(self, uri: str) -> None:
        """A program that has been closed."""
        self._read.pop(uri, None)

    def stop(self, uri: str) -> None:
        """End the run of a program that has changed, and drop its answers unless the text is the same."""
        if run := self._runs.pop(uri, None):
            run.cancel()
        answered = self._answers.get(uri)
        known = self._read.get(uri)
        if answered and (known is None or known.source.text != answered[0]):
            del self._answers[uri]

    def stop_all(self) -> None:
        """End all runs."""
        for uri in list(self._runs):
            self.stop(uri)

    def answered(self, uri: str) -> Sequence[NamedAnswer]:
        """The answers to the program as it is now; none where nobody asked."""
        text, found = self._answers.get(uri, ("", ()))
        return found if text == self.document(uri).source.text else ()

    async def answer(self, uri: str, seconds: float) -> bool:
        """Answer the queries of a program; False where it was changed meanwhile. Raises NoAnswersError."""
        document = self.document(uri)
        self.stop(uri)
        path = to_fs_path(uri)
        folder = Path(path).parent if path else Path()
        run = asyncio.ensure_future(answers(document.source, folder, seconds))
        self._runs[uri] = run
        try:
            await asyncio.wait([run])
        finally:
            run.cancel()  # the editor may have cancelled the request
            if self._runs.get(uri) is run:
                del self._runs[uri]
        if run.cancelled():
            return False
        self._answers[uri] = document.source.text, run.result()
        return True

    def place(self, at: Any) -> tuple[Document, int]:
        """The program and the offset that a request is about."""
        document = self.document(at.text_document.uri)
        return document, from_editor(document.source, at.position.line, at.position.character)


server = PlxServer()


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more; both streams may be closed."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_fault)
    read(Source("", ""), Path())  # loads the tables of the parser before there is somebody who waits
    gc.freeze()  # what is loaded stays, and need not be looked through at every key
    server.start_io(requests, replies)


def _is_fault(record: logging.LogRecord) -> bool:
    """Whether a record is of a fault of the server's: a request that is refused is none."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcInvalidParams))


def _range(span: Span) -> types.Range:
    start, end = (types.Position(*to_editor(span.source, place)) for place in (span.start, span.end))
    return types.Range(start, end)


# -------------------------------------------------------------------- mistakes


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def opened(ls: PlxServer, params: types.DidOpenTextDocumentParams) -> None:
    """Tell what is wrong."""
    _publish(ls, params.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(ls: PlxServer, params: types.DidChangeTextDocumentParams) -> None:
    """Tell what is wrong now."""
    _publish(ls, params.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
def saved(ls: PlxServer, params: types.DidSaveTextDocumentParams) -> None:
    """Read the program with its data anew."""
    ls.forget(params.text_document.uri)
    _publish(ls, params.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
def closed(ls: PlxServer, params: types.DidCloseTextDocumentParams) -> None:
    """Forget it."""
    ls.forget(params.text_document.uri)
    ls.stop(params.text_document.uri)


@server.feature(types.SHUTDOWN)
def ended(ls: PlxServer, _: None) -> None:
    """Leave no run behind."""
    ls.stop_all()


def _publish(ls: PlxServer, uri: str) -> None:
    document = ls.document(uri)
    told = [_diagnostic(document, uri, one) for one in document.diagnostics]
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, told))


def _diagnostic(document: Document, uri: str, found: Diagnostic) -> types.Diagnostic:
    inside = found.span is not None and found.span.source is document.source
    span = found.span if found.span and inside else Span(document.source, 0, 0)
    place = f"{found.span}: " if found.span and not inside else ""
    related = [
        types.DiagnosticRelatedInformation(types.Location(uri, _range(note.span)), note.message)
        for note in found.notes
        if note.span and note.span.source is document.source
    ]
    error = found.severity == "error"
    return types.Diagnostic(
        range=_range(span),
        message=place + found.message + (f"\n{found.hint}" if found.hint else ""),
        severity=types.DiagnosticSeverity.Error if error else types.DiagnosticSeverity.Warning,
        code=found.code,
        source="plx",
        related_information=related or None,
    )


# ----------------------------------------------------------------------- names


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hovered(ls: PlxServer, params: types.HoverParams) -> types.Hover | None:
    """Domain, number of instances, expansion."""
    found = hover(*ls.place(params))
    if found is None:
        return None
    span, text = found
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), _range(span))


@server.feature(types.TEXT_DOCUMENT_DEFINITION)
def defined(ls: PlxServer, params: types.DefinitionParams) -> types.Location | None:
    """Where the name is declared or bound."""
    document, offset = ls.place(params)
    occurrence = document.at(offset)
    found = occurrence and document.definition(occurrence)
    return types.Location(params.text_document.uri, _range(found.span)) if found else None


@server.feature(types.TEXT_DOCUMENT_REFERENCES)
def referred(ls: PlxServer, params: types.ReferenceParams) -> list[types.Location]:
    """Everywhere that the name stands for the same."""
    document, offset = ls.place(params)
    occurrence = document.at(offset)
    found = document.alike(occurrence) if occurrence else []
    kept = [one for one in found if params.context.include_declaration or not one.defines]
    return [types.Location(params.text_document.uri, _range(one.span)) for one in kept]


@server.feature(types.TEXT_DOCUMENT_RENAME)
def renamed(ls: PlxServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Call it otherwise everywhere."""
    document, offset = ls.place(params)
    occurrence = document.at(offset)
    if occurrence is None:
        return None
    return types.WorkspaceEdit({params.text_document.uri: _edits(document, occurrence, params.new_name)})


def _edits(document: Document, occurrence: Occurrence, name: str) -> list[types.TextEdit]:
    try:
        return [types.TextEdit(_range(one.span), text) for one, text in document.renamed(occurrence, name)]
    except RenameError as error:
        raise JsonRpcInvalidParams(str(error)) from None


# --------------------------------------------------------------------- writing


@server.feature(types.TEXT_DOCUMENT_COMPLETION)
def completed(ls: PlxServer, params: types.CompletionParams) -> list[types.CompletionItem]:
    """What may be written here."""
    return [types.CompletionItem(text, kind=_KINDS[kind]) for text, kind in completions(*ls.place(params))]


@server.feature(types.TEXT_DOCUMENT_FORMATTING)
def laid_out(ls: PlxServer, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    """The program in canonical layout; None while there are mistakes in it."""
    source = ls.document(params.text_document.uri).source
    try:
        text = formatted(source)
    except PlxError:
        return None
    everything = Span(source, 0, len(source.text))
    return [] if text == source.text else [types.TextEdit(_range(everything), text)]


# --------------------------------------------------------------------- answers


@server.feature(types.TEXT_DOCUMENT_CODE_LENS)
def offered(ls: PlxServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Above the first query of a program without mistakes: answer them."""
    document = ls.document(params.text_document.uri)
    query = first_query(document.module)
    if query is None or document.model is None:
        return []
    command = types.Command("answer the queries", ANSWER, arguments=[params.text_document.uri, SECONDS])
    return [types.CodeLens(_range(query.span), command)]


@server.command(ANSWER)
async def answered(ls: PlxServer, uri: str, seconds: float) -> bool:
    """Answer the queries, and show the answers beside them until the text changes."""
    try:
        done = await ls.answer(uri, seconds)
    except NoAnswersError as error:
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Error, str(error)))
        return False
    workspace = ls.client_capabilities.workspace
    if done and workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
        ls.workspace_inlay_hint_refresh(None)
    return done


@server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
def hinted(ls: PlxServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    """The answers that were asked for. Nothing is run."""
    document = ls.document(params.text_document.uri)
    hints = []
    for end, short, long in beside(document.module, ls.answered(params.text_document.uri)):
        place = types.Position(*to_editor(document.source, end))
        if params.range.start.line <= place.line <= params.range.end.line:
            hints.append(types.InlayHint(place, short, tooltip=long, padding_left=True))
    return hints
