"use strict";
// The page: an editor, a menu of examples, and a worker that answers. A run is stopped by ending its worker.

const at = (id) => document.getElementById(id);
const program = at("program"), colours = at("colours"), examples = at("examples"), state = at("state");
const KEPT = "plx playground";
let settings, worker, ready = false, running = false, folder = "", began = 0;

// ------------------------------------------------------------------ colours

function pattern() {
  const words = (list) => `\\b(?:${list.join("|")})\\b`;
  const parts = [
    ["comment", "#[^\\n]*"],
    ["string", "\"(?:[^\"\\\\\\n]|\\\\.)*\"?"],
    ["number", "\\b\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?\\b"],
    ["statement", words(settings.statements)],
    ["keyword", words(settings.keywords)],
    ["name", "[\\p{L}_][\\p{L}\\p{N}_]*'*"],
  ];
  return new RegExp(parts.map(([kind, text]) => `(?<${kind}>${text})`).join("|"), "gu");
}

function colour() {
  const pieces = document.createDocumentFragment();
  let end = 0;
  for (const found of program.value.matchAll(pattern())) {
    const [kind] = Object.entries(found.groups).find(([, text]) => text !== undefined);
    pieces.append(program.value.slice(end, found.index));
    end = found.index + found[0].length;
    if (kind === "name") { pieces.append(found[0]); continue; }
    const piece = document.createElement("i");
    piece.className = kind;
    piece.textContent = found[0];
    pieces.append(piece);
  }
  pieces.append(program.value.slice(end) + "\n");
  colours.replaceChildren(pieces);
  follow();
}

function follow() {
  colours.scrollTop = program.scrollTop;
  colours.scrollLeft = program.scrollLeft;
}

// ------------------------------------------------------------------ the worker

function start() {
  ready = running = false;
  worker?.terminate();
  worker = new Worker("worker.js");
  worker.onmessage = ({ data }) => heard(data);
  worker.onerror = (event) => failed(event.message || "the worker cannot be started");
  worker.postMessage({ pyodide: new URL(settings.pyodide, location.href).href });
  show("loading Python, about 22 MB the first time…");
}

function heard(message) {
  if (message.failed) { failed(message.failed); return; }
  if (message.ready) { ready = true; show(`ready: plx ${message.ready}`); return; }
  running = false;
  answer(message.answer);
  show(`${message.answer.page ? "answered" : "mistakes"} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

function failed(why) {
  ready = running = false;
  show(`cannot start: ${why}`);
}

function show(text) {
  state.textContent = text;
  at("run").disabled = !ready || running;
  at("stop").disabled = !running;
}

function run() {
  if (!ready || running) return;
  running = true;
  began = performance.now();
  keep();
  worker.postMessage({ text: program.value, folder, seconds: Number(at("seconds").value) || 20 });
  show("running…");
}

// ------------------------------------------------------------------ answers

function answer({ page, mistakes = [], notes = [] }) {
  const lines = [...mistakes.map((one) => ["mistake", one]), ...notes.map((one) => ["note", one])];
  at("said").replaceChildren(...lines.map(([kind, { text, line, column }]) => {
    const shown = document.createElement("pre");
    shown.className = kind;
    shown.textContent = text;
    if (line) {
      shown.dataset.line = line;
      shown.onclick = () => go(line, column);
    }
    return shown;
  }));
  at("page").hidden = !page;
  at("page").srcdoc = page || "";
}

function go(line, column) {
  const lines = program.value.split("\n");
  const place = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
  program.focus();
  program.setSelectionRange(place, place);
}

// ------------------------------------------------------------------ programs

function keep() {
  try { localStorage.setItem(KEPT, JSON.stringify({ text: program.value, folder })); } catch { /* private window */ }
}

function kept() {
  try {
    if (location.hash.startsWith("#program=")) return { text: decodeURIComponent(location.hash.slice(9)), folder: "" };
    return JSON.parse(localStorage.getItem(KEPT));
  } catch { return null; }
}

function put(text, inFolder) {
  program.value = text;
  folder = inFolder;
  program.scrollTop = 0;
  colour();
}

async function link() {
  const url = `${location.href.split("#")[0]}#program=${encodeURIComponent(program.value)}`;
  history.replaceState(null, "", url);
  try { await navigator.clipboard.writeText(url); show("the link to this program is copied"); }
  catch { show("the address bar has the link to this program"); }
}

async function open() {
  settings = await (await fetch("settings.json")).json();
  for (const { name, about } of settings.examples) examples.append(new Option(`${name}: ${about}`, name));
  const first = kept() || settings.examples[0];
  put(first.text, first.folder);
  examples.onchange = () => {
    const chosen = settings.examples[examples.selectedIndex];
    put(chosen.text, chosen.folder);
    at("said").replaceChildren();
    at("page").hidden = true;
  };
  start();
}

program.oninput = colour;
program.onscroll = follow;
program.onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
};
at("run").onclick = run;
at("stop").onclick = () => { start(); };
at("link").onclick = link;
open().catch((error) => failed(error.message));
