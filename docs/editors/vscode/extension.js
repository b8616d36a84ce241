// Starts `plx lsp` and lets the editor speak to it.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const ANSWER = "plx.answer"; // the server's command; the client registers it

let client;

function setting(name) {
  return vscode.workspace.getConfiguration("plx").get(name);
}

function activate(context) {
  const server = { command: setting("command"), args: ["lsp"] };
  const executeCommand = (command, args, next) =>
    next(command, command === ANSWER ? [args[0], setting("seconds")] : args);
  const options = { documentSelector: [{ language: "plx" }], middleware: { executeCommand } };
  client = new LanguageClient("plx", "plx", server, options);
  const answer = vscode.commands.registerTextEditorCommand("plx.answerQueries", ({ document }) =>
    vscode.commands.executeCommand(ANSWER, client.code2ProtocolConverter.asUri(document.uri)),
  );
  context.subscriptions.push(answer);
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
