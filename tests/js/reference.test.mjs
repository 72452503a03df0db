// The reference of the npm package, as docs/build has typedoc make it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("the reference has every entry of the package and loads nothing from elsewhere", () => {
  const out = mkdtempSync(join(tmpdir(), "reference-"));
  try {
    // What is not documented, and a link that leads nowhere, is an error.
    execFileSync("npm", ["run", "--silent", "build", "--", "--out", out], { cwd: join(ROOT, "bindings-wasm/reference"), stdio: "pipe" });
    const { exports } = JSON.parse(readFileSync(join(ROOT, "bindings-wasm/js/package.json"), "utf8"));
    const entries = Object.keys(exports).filter((name) => !name.endsWith(".wasm") && name !== "./worker");
    const modules = readdirSync(join(out, "modules")).map((file) => file.replace(/\.html$/, ""));
    assert.deepEqual(modules.sort(), entries.map((name) => (name === "." ? "index" : name.slice(2))).sort());
    for (const file of readdirSync(out, { recursive: true }).filter((file) => file.endsWith(".html"))) {
      assert.doesNotMatch(readFileSync(join(out, file), "utf8"), /(?:src|href)="(?:https?:)?\/\/[^"]*\.(?:js|css|woff2?)"/, file);
    }
  } finally {
    rmSync(out, { recursive: true });
  }
});
