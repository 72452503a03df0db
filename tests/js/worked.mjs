// What the page of workers must report in every browser.
import assert from "node:assert/strict";

export function assertWorked({ died, ...results }, origin) {
  // Chromium writes "Uncaught " before it.
  assert.match(died, /^WorkerError: a worker ended during decodeTile: .*Error: broken$/);
  assert.deepEqual(results, {
    same: true,
    moved: [0, true],
    cells: 10_512,
    workers: true,
    aborted: "AbortError",
    refused: "MesonetError: nodata must be an integer from -32768 to 32767; got 70000",
    odd: "MesonetError: a tile is pairs of bytes; got 3 bytes",
    next: 65_536,
    lost: "WorkerError: a worker ended during decodeTile: its script cannot be loaded or run",
    missing: `WorkerError: ${origin}/no/such.wasm: the answer was 404`,
    closed: "WorkerError: this pool was closed",
  });
}
