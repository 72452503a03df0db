// Builds the package into dist/: the Rust crate to WebAssembly, its glue by wasm-bindgen, what is
// generated from the result, and the TypeScript facade.
//
// Needs the target once: `rustup target add wasm32-unknown-unknown`, and wasm-bindgen of the version
// pinned in Cargo.toml: `cargo install wasm-bindgen-cli --version 0.2.130`. CARGO_TARGET_DIR is
// respected; MESONET_CARGO_FLAGS adds flags for toolchains that have no such target installed.
//
// wasm-opt is left out: it takes 1.5 % off the compressed size and is 100 MB to install.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";

const BUDGET_BROTLI_BYTES = 60 * 1024;

const here = dirname(fileURLToPath(import.meta.url));
const workspace = resolve(here, "../..");
const generated = join(here, "src/generated");
const dist = join(here, "dist");
const run = (command, args, options = {}) =>
  execFileSync(command, args, { stdio: "inherit", cwd: here, ...options });

// One unit and fat link-time optimisation: smaller, and this crate is built rarely.
const flags = (process.env.MESONET_CARGO_FLAGS ?? "").split(" ").filter(Boolean);
run(
  "cargo",
  ["build", "--release", "-p", "mesonet-wasm", "--target", "wasm32-unknown-unknown", ...flags],
  {
    cwd: workspace,
    env: {
      ...process.env,
      CARGO_PROFILE_RELEASE_LTO: "fat",
      CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "1",
      CARGO_PROFILE_RELEASE_DEBUG: "false",
      CARGO_PROFILE_RELEASE_PANIC: "abort",
    },
  },
);
const target = resolve(workspace, process.env.CARGO_TARGET_DIR ?? "target");

rmSync(generated, { recursive: true, force: true });
rmSync(dist, { recursive: true, force: true });
run("wasm-bindgen", [
  ...["--target", "web", "--omit-default-module-path"],
  ...["--remove-name-section", "--remove-producers-section"],
  ...["--out-name", "mesonet", "--out-dir", generated],
  join(target, "wasm32-unknown-unknown/release/mesonet_wasm.wasm"),
]);
const wasm = readFileSync(join(generated, "mesonet_bg.wasm"));

// The names as types, taken from the module itself, so that there is no second list to keep.
const raw = await import(join(generated, "mesonet.js"));
raw.initSync({ module: wasm });
const union = (names) => names.map((name) => JSON.stringify(name)).join(" | ");
writeFileSync(
  join(generated, "names.ts"),
  `/** Names of the base qualities, worst first. */
export type BaseQualityName = ${union(raw.base_quality_names())};
/** Names of the reasons. */
export type ReasonQualityName = ${union(raw.reason_quality_names())};
/** Names of the variables. */
export type VariableName = ${union(raw.variable_names())};
/** Names of the conventions of writing units. */
export type VocabularyName = ${union(raw.vocabulary_names())};
`,
);
writeFileSync(
  join(generated, "bytes.ts"),
  `/** The WebAssembly module in base64. */
export const base64: string =
  "${wasm.toString("base64")}";
`,
);

run("node", [join(here, "node_modules/typescript/bin/tsc"), "-p", here]);
mkdirSync(join(dist, "generated"), { recursive: true });
for (const file of ["mesonet.js", "mesonet.d.ts"]) {
  cpSync(join(generated, file), join(dist, "generated", file));
}
writeFileSync(join(dist, "mesonet.wasm"), wasm);
for (const license of ["LICENSE-APACHE", "LICENSE-MIT"]) {
  cpSync(join(workspace, license), join(here, license));
}

const brotli = brotliCompressSync(wasm).length;
console.log(`mesonet.wasm: ${wasm.length} bytes, ${brotli} with brotli`);
if (brotli > BUDGET_BROTLI_BYTES) {
  throw new Error(`mesonet.wasm has ${brotli} bytes with brotli; allowed are ${BUDGET_BROTLI_BYTES}`);
}
