// Starts `plx lsp` and lets the editor speak to it.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = vscode.workspace.getConfiguration("plx").get("command");
  const server = { command, args: ["lsp"] };
  const documents = { documentSelector: [{ language: "plx" }] };
  client = new LanguageClient("plx", "plx", server, documents);
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
