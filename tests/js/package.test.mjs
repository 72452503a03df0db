// The package as users get it: its files, its types, and the examples in the READMEs.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { run } from "./child.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../../bindings-wasm/js/", import.meta.url));

/** The modules of WebAssembly; the first has no entry of its name. */
const MODULES = ["mesonet", "checks", "network", "grids", "alerts", "metar", "report"];

test("it contains what is needed and no more", () => {
  const [packed] = JSON.parse(run("npm", ["pack", "--dry-run", "--json"], { cwd: root }));
  const files = packed.files.map(({ path }) => path);
  const entries = ["index", "slim", "client", "map", "maplibre", "leaflet", "workers", "worker", ...MODULES.slice(1)].flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`]);
  for (const file of [...entries, ...MODULES.map((name) => `dist/${name}.wasm`), "LICENSE-MIT"]) {
    assert.ok(files.includes(file), `${file} is missing of ${files}`);
  }
  const others = files.filter((file) => !/^(dist\/.*|README\.md|package\.json|LICENSE.*)$/.test(file));
  assert.deepEqual(others, []);
});

test("every entry has its types for each way of resolving", () => {
  const { exports, types, typesVersions } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.entries(exports).filter(([, files]) => files.types !== undefined);
  const wanted = entries.map(([entry, { types }]) => [entry.slice(2), [types]]);
  assert.deepEqual(typesVersions, { "*": Object.fromEntries(wanted.filter(([entry]) => entry !== "")) });
  assert.equal(types, exports["."].types);
});

test("publint and Are The Types Wrong find nothing in the package", () => {
  const folder = mkdtempSync(join(tmpdir(), "mesonet-package-"));
  try {
    const [{ filename }] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root }));
    const archive = join(folder, filename);
    const tool = (name, ...args) => run("node", [`${here}node_modules/${name}`, ...args], { cwd: here });
    tool("publint/src/cli.js", "run", archive, "--strict");
    const files = MODULES.map((name) => `./${name}.wasm`);
    // The package is of ES modules; the oldest way of resolving, `node10`, is looked at too.
    tool("@arethetypeswrong/cli/dist/index.js", archive, "--ignore-rules", "cjs-resolves-to-esm", "--exclude-entrypoints", ...files);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("its version and addresses are those of the repository", () => {
  const workspace = readFileSync(new URL("../../Cargo.toml", import.meta.url), "utf8");
  const [, version] = workspace.match(/^version = "(.*)"$/m);
  const [, address] = workspace.match(/^repository = "(.*)"$/m);
  const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.equal(about.version, version);
  assert.equal(about.homepage, `${address}#readme`);
  assert.deepEqual(about.bugs, { url: `${address}/issues` });
  assert.deepEqual(about.repository, { type: "git", url: `git+${address}.git`, directory: "bindings-wasm/js" });
});

test("code that uses it type-checks, and misuse does not", () => {
  const [newest, older] = [`${root}node_modules/typescript/bin/tsc`, `${here}node_modules/typescript5/bin/tsc`];
  // The types of the map libraries themselves are not checked: not all of them pass.
  for (const project of [`${here}types`, `${here}types/tsconfig.maps.json`]) {
    run("node", [newest, "-p", project]);
    run("node", [newest, "-p", project, "--module", "ESNext", "--moduleResolution", "bundler"]);
    // TypeScript 7 has no `node10`.
    run("node", [older, "-p", project, "--module", "ESNext", "--moduleResolution", "node10"]);
  }
});

const EXAMPLES = { "README.md": 1, "bindings-wasm/js/README.md": 10 };
for (const [readme, examples] of Object.entries(EXAMPLES)) {
  test(`the examples of ${readme} print what they say`, () => {
    const text = readFileSync(new URL(`../../${readme}`, import.meta.url), "utf8");
    let ran = 0;
    for (const [, example] of text.matchAll(/```js\n(.*?)```/gs)) {
      const results = [...example.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)];
      const wanted = results.map(([, result]) => result);
      if (wanted.length === 0) {
        continue;
      }
      // Beside node_modules, where the package is found by its name.
      const file = `${here}node_modules/.readme.mjs`;
      writeFileSync(file, example);
      const printed = run("node", [file]).trimEnd().split("\n");
      assert.deepEqual(printed, wanted);
      ran += 1;
    }
    assert.equal(ran, examples);
  });
}
