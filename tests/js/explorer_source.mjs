// The source of the explorer, for tests of its parts.
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

export const SOURCE = fileURLToPath(new URL("../../server-example/web/src/", import.meta.url));

/** What a module of the page exports. The page's own parts look at the browser when they are loaded. */
export async function exportsOf(module) {
  globalThis.matchMedia ??= () => ({ matches: false });
  globalThis.navigator ??= { language: "en-CA" };
  const { outputFiles } = await build({
    entryPoints: [join(SOURCE, module)],
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "error",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
