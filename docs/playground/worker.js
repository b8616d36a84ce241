"use strict";
// Python and plx, away from the page, which stays responsive and can end a run.

let answered;

async function start(base) {
  importScripts(`${base}pyodide.js`);
  const python = await loadPyodide({ indexURL: base });
  await python.loadPackage(["numpy", "sympy", "python-sat"], { messageCallback: () => {} });
  const bundle = await (await fetch("bundle.zip")).arrayBuffer();
  python.unpackArchive(bundle, "zip", { extractDir: "/plx" });
  python.runPython("import sys; sys.path.insert(0, '/plx'); import addresses; addresses.widen()");
  const answering = python.pyimport("answering");
  const version = answering.prepared("/plx");
  answered = (text, folder, seconds) => {
    const found = answering.answered(text, `/plx/examples/${folder}`, seconds);
    const plain = found.toJs({ dict_converter: Object.fromEntries });
    found.destroy();
    return plain;
  };
  return version;
}

onmessage = async ({ data }) => {
  try {
    if (data.pyodide) postMessage({ ready: await start(data.pyodide) });
    else postMessage({ answer: answered(data.text, data.folder, data.seconds) });
  } catch (error) {
    postMessage({ failed: String(error.message || error) });
  }
};
