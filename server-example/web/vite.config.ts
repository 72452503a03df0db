import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { defineConfig, type Plugin } from "vite";

import { basemap } from "./scripts/basemap";
import { names, places } from "./scripts/places";

const require = createRequire(import.meta.url);
const FOLDER = "explorer";
const MESONET = process.env.MESONET ?? "http://127.0.0.1:8080";

/** A file that is made when the page is built, under a name that is made from its content; a module gives its address. */
function made(name: string, make: () => Uint8Array | string): Plugin {
  const id = `virtual:${name}`;
  let served: Uint8Array | string | undefined;
  return {
    name,
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load(source) {
      if (source !== `\0${id}`) return undefined;
      if (this.environment.mode === "dev") return `export default "/${FOLDER}/${name}.bin";`;
      const reference = this.emitFile({ type: "asset", name: `${name}.bin`, source: make() });
      return `export default import.meta.ROLLUP_FILE_URL_${reference};`;
    },
    configureServer(server) {
      server.middlewares.use(`/${FOLDER}/${name}.bin`, (_, response) => {
        served ??= make();
        response.end(served);
      });
    },
  };
}

/** The WebAssembly of the library: the core, and what decodes a report. */
const LIBRARY = ["mesonet.wasm", "report.wasm"];

/** The library loads its WebAssembly from beside the program; by its own address it would have another name. */
function libraryAddress(): Plugin {
  return {
    name: "library-address",
    enforce: "pre",
    transform(code) {
      const file = LIBRARY.find((name) => code.includes(addressOf(name)));
      if (file === undefined) return undefined;
      const inFolder = this.environment.mode === "dev" ? `"/${FOLDER}/${file}"` : `new URL(${JSON.stringify(file.split("."))}.join("."), import.meta.url)`;
      return code.replace(addressOf(file), inFolder);
    },
  };
}

const addressOf = (file: string) => `new URL("./${file}", import.meta.url)`;

/**
 * The WebAssembly of the library under names that stay, as its bytes depend on the compiler; and the
 * list of files that the server is built with.
 */
function library(): Plugin {
  const content = (name: string) => readFileSync(require.resolve(`mesonet/${name}`));
  return {
    name: "library",
    configureServer(server) {
      for (const name of LIBRARY) {
        server.middlewares.use(`/${FOLDER}/${name}`, (_, response) => {
          response.setHeader("content-type", "application/wasm");
          response.end(content(name));
        });
      }
    },
    generateBundle(_, bundle) {
      for (const name of LIBRARY) this.emitFile({ type: "asset", fileName: `${FOLDER}/${name}`, source: content(name) });
      const names = [...Object.keys(bundle), ...LIBRARY.map((name) => `${FOLDER}/${name}`)];
      const files = [...new Set(names)].filter((name) => name.startsWith(`${FOLDER}/`)).sort();
      const entry = (name: string) => `    ("${name.split("/").at(-1)}", include_bytes!("${name}")),\n`;
      const source = `&[\n${["index.html", ...files].map(entry).join("")}]\n`;
      this.emitFile({ type: "asset", fileName: "files.rs", source });
    },
  };
}

/** The program is named in the page, so that a browser asks for it together with what starts it. */
function early(): Plugin {
  return {
    name: "early",
    transformIndexHtml: {
      order: "post",
      handler(_, { bundle }) {
        const chunks = Object.values(bundle ?? {}).filter((one) => one.type === "chunk");
        const main = chunks.find(({ name }) => name === "main");
        if (!main) return [];
        const tag = (rel: string, name: string) => ({ tag: "link", attrs: { rel, crossorigin: true, href: `./${name}` }, injectTo: "head" as const });
        const styles = main.viteMetadata?.importedCss ?? [];
        const others = main.imports.filter((name) => chunks.find((one) => one.fileName === name)?.name !== "start");
        return [...[...styles].map((name) => tag("stylesheet", name)), ...[main.fileName, ...others].map((name) => tag("modulepreload", name))];
      },
    },
  };
}

/** The pictures of Leaflet are those of its markers and of its choice of layers, which the page has not. */
function withoutPictures(): Plugin {
  return {
    name: "without-pictures",
    enforce: "pre",
    transform: (code, id) => (id.endsWith("leaflet.css") ? code.replaceAll(/background-image: url\([^)]*\);/g, "") : undefined),
  };
}

export default defineConfig({
  base: "./",
  plugins: [made("far", () => basemap("far")), made("near", () => basemap("near")), made("places", places), made("names", names), withoutPictures(), libraryAddress(), library(), early()],
  worker: { format: "es", plugins: () => [libraryAddress()] },
  build: {
    target: "es2022",
    assetsDir: FOLDER,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What the first picture needs is one file, beside the few lines that ask for it.
          groups: [
            { name: "start", test: /src\/(start|first|domain\/mercator)\.ts$/, priority: 2 },
            { name: "main", test: /node_modules\/(@?preact|leaflet)\/|src\/((api|domain|map|ui)\/|station\/(columns|network)\.|[^/]+$)/, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    // `MESONET=http://127.0.0.1:8081 npm run dev`; the page itself and its sources come from here.
    proxy: {
      "^/(api|models|capabilities|openapi|swagger|healthz|readyz)": MESONET,
      "^/$": {
        target: MESONET,
        bypass: ({ headers, url }) => (headers.accept?.includes("text/html") ? url : undefined),
      },
    },
  },
});
