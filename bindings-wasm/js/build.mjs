// Builds the package into dist/: the Rust crate to WebAssembly, once for each of the modules, their
// glue by wasm-bindgen (../bindgen), what is generated from the result, and the TypeScript facade.
//
// Needs the target once: `rustup target add wasm32-unknown-unknown`. CARGO_TARGET_DIR is respected;
// MESONET_CARGO_FLAGS adds flags for toolchains that have no such target installed.
//
// wasm-opt is left out: it takes 1.5 % off the compressed size and is 100 MB to install.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";

import { namesSource } from "./names.mjs";
import { clientTypes } from "./openapi.mjs";

// The modules, their features of the crate, how the compiler optimises, and the most bytes that each
// may have with brotli. The values go for size: 60 KB instead of 65, and they are as fast. So do the
// checks: 164 KB instead of 190, and they take a fifth longer.
// Those of neighbours bring a store and weigh as much again, so they are a module of their own.
// Loops that want WebAssembly's vectors have them by an attribute of the function (`grid/vectors.rs` of the core): a flag
// of the target would have the standard library built for each module anew.
// A third of the alerts is the cutting of polygons at ±180°. A single report is for pages that show one.
const MODULES = [
  { name: "mesonet", features: "values", optLevel: '"s"', budget: 60 * 1024 },
  { name: "checks", features: "checks", optLevel: '"s"', budget: 184 * 1024 },
  { name: "network", features: "network", optLevel: '"s"', budget: 288 * 1024 },
  { name: "grids", features: "grids", optLevel: 3, budget: 40 * 1024 },
  { name: "alerts", features: "alerts", optLevel: '"s"', budget: 272 * 1024 },
  { name: "report", features: "report", optLevel: '"z"', budget: 39 * 1024 },
  { name: "metar", features: "metar", optLevel: '"s"', budget: 116 * 1024 },
];

const here = dirname(fileURLToPath(import.meta.url));
const workspace = resolve(here, "../..");
const generated = join(here, "src/generated");
const dist = join(here, "dist");
const run = (command, args, options = {}) =>
  execFileSync(command, args, { stdio: "inherit", cwd: here, ...options });

rmSync(generated, { recursive: true, force: true });
rmSync(dist, { recursive: true, force: true });
const flags = (process.env.MESONET_CARGO_FLAGS ?? "").split(" ").filter(Boolean);
const target = resolve(workspace, process.env.CARGO_TARGET_DIR ?? "target");

/** Builds a module and its glue; gives its bytes and what the glue exports. */
async function build({ name, features, optLevel }) {
  // The library is built once for what goes for size, and with little else for the others.
  const only = ["--no-default-features", "--features", optLevel === '"s"' ? `${features},shared` : features];
  const ours = ["mesonet", "mesonet-wasm", "libm"];
  const levels = ours.flatMap((name) => ["--config", `profile.release.package.${name}.opt-level=${optLevel}`]);
  run(
    "cargo",
    [
      ...["build", "--release", "-p", "mesonet-wasm", ...only, ...levels],
      ...["--target", "wasm32-unknown-unknown", ...flags],
    ],
    {
      cwd: workspace,
      env: {
        ...process.env,
        // One unit and fat link-time optimisation: smaller, and this crate is built rarely.
        CARGO_PROFILE_RELEASE_LTO: "fat",
        CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "1",
        CARGO_PROFILE_RELEASE_DEBUG: "false",
        CARGO_PROFILE_RELEASE_PANIC: "abort",
        // All else goes for size, so that it is built once for all modules.
        CARGO_PROFILE_RELEASE_OPT_LEVEL: "s",
      },
    },
  );
  run("cargo", [
    ...["run", "--quiet", "--locked", "--manifest-path", join(workspace, "bindings-wasm/bindgen/Cargo.toml")],
    ...["--target-dir", join(target, "bindgen"), "--"],
    ...[join(target, "wasm32-unknown-unknown/release/mesonet_wasm.wasm"), name, generated],
  ]);
  // The compilers of users need not know of Symbol.dispose.
  const types = join(generated, `${name}.d.ts`);
  writeFileSync(types, readFileSync(types, "utf8").replace(/^ *\[Symbol\.dispose\].*\n/gm, ""));
  const wasm = readFileSync(join(generated, `${name}_bg.wasm`));
  const raw = await import(join(generated, `${name}.js`));
  raw.initSync({ module: wasm });
  return { wasm, raw };
}

const built = {};
for (const module of MODULES) {
  built[module.name] = await build(module);
}

writeFileSync(join(generated, "names.ts"), namesSource(built.mesonet.raw, built.checks.raw));
writeFileSync(
  join(generated, "bytes.ts"),
  `/** The WebAssembly module in base64. */
export const base64: string =
  "${built.mesonet.wasm.toString("base64")}";
`,
);

const description = JSON.parse(readFileSync(join(workspace, "docs/openapi-v1.json"), "utf8"));
writeFileSync(join(generated, "api.ts"), clientTypes(description));

run("node", [join(here, "node_modules/typescript/bin/tsc"), "-p", here]);
mkdirSync(join(dist, "generated"), { recursive: true });
for (const { name } of MODULES) {
  for (const file of [`${name}.js`, `${name}.d.ts`]) {
    cpSync(join(generated, file), join(dist, "generated", file));
  }
  writeFileSync(join(dist, `${name}.wasm`), built[name].wasm);
}
for (const license of ["LICENSE-APACHE", "LICENSE-MIT"]) {
  cpSync(join(workspace, license), join(here, license));
}

for (const { name, budget } of MODULES) {
  const { wasm } = built[name];
  const brotli = brotliCompressSync(wasm).length;
  console.log(`${name}.wasm: ${wasm.length} bytes, ${brotli} with brotli`);
  if (brotli > budget) {
    throw new Error(`${name}.wasm has ${brotli} bytes with brotli; allowed are ${budget}`);
  }
}
