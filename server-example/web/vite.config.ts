import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

import { defineConfig, type Plugin } from "vite";

import { basemap, coasts } from "./scripts/basemap";
import { names, places } from "./scripts/places";

const require = createRequire(import.meta.url);
const FOLDER = "explorer";
const MESONET = process.env.MESONET ?? "http://127.0.0.1:8080";

type Content = Uint8Array | string;

/** Files that are made when the page is built, under names that are made from their content; a module gives their addresses by name. */
function made(name: string, make: () => Record<string, Content>): Plugin {
  const id = `virtual:${name}`;
  let all: Record<string, Content> | undefined;
  const content = () => (all ??= make());
  return {
    name,
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load(source) {
      if (source !== `\0${id}`) return undefined;
      const addressOf = (file: string) =>
        this.environment.mode === "dev" ? `"/${FOLDER}/${file}.bin"` : `import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: "asset", name: `${file}.bin`, source: content()[file]! })}`;
      return `export default {${Object.keys(content()).map((file) => `${JSON.stringify(file)}: ${addressOf(file)}`).join(",")}};`;
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const file = /^\/explorer\/(.+)\.bin$/.exec(request.url ?? "")?.[1];
        if (file !== undefined && file in content()) response.end(content()[file]);
        else next();
      });
    },
  };
}

/** The finest outlines, block by block. */
const coastFiles = () => Object.fromEntries(Object.entries(coasts()).map(([block, content]) => [`coast${block}`, content]));

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
    // Last: the entry of the page, which only imports another file, is taken out at the end.
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        for (const name of LIBRARY) this.emitFile({ type: "asset", fileName: `${FOLDER}/${name}`, source: content(name) });
        const names = [...Object.keys(bundle), ...LIBRARY.map((name) => `${FOLDER}/${name}`)];
        const files = [...new Set(names)].filter((name) => name.startsWith(`${FOLDER}/`)).sort();
        const entry = (name: string) => `    ("${name.split("/").at(-1)}", include_bytes!("${name}.br")),\n`;
        const source = `&[\n${["index.html", ...files, "robots.txt"].map(entry).join("")}]\n`;
        this.emitFile({ type: "asset", fileName: "files.rs", source });
      },
    },
  };
}

/** Compresses every file as well as Brotli can, once, in place of the server at each request. */
function packed(): Plugin {
  return {
    name: "packed",
    writeBundle({ dir }, bundle) {
      for (const name of Object.keys(bundle).filter((one) => one !== "files.rs")) {
        const file = join(dir!, name);
        const content = readFileSync(file);
        writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }));
        rmSync(file);
      }
    },
  };
}

/** What makes the page an application that can be installed: its manifest, with icons; and what robots may read. */
function installable(): Plugin {
  const content = (name: string) => readFileSync(new URL(name, import.meta.url));
  let names: Record<"manifest" | "icon" | "touch", string> | undefined;
  return {
    name: "installable",
    generateBundle() {
      const emit = (name: string, source: Uint8Array | string) => this.getFileName(this.emitFile({ type: "asset", name, source }));
      const [icon, small, large] = ["icon.svg", "icon-192.png", "icon-512.png"].map((name) => emit(name, content(`icons/${name}`))) as [string, string, string];
      const beside = (name: string) => `./${name.slice(FOLDER.length + 1)}`;
      const manifest = {
        id: "mesonet",
        name: "mesonet explorer",
        short_name: "mesonet",
        description: "Weather observations, alerts and model grids of Canada and the United States",
        start_url: "../",
        scope: "../",
        display: "standalone",
        background_color: "#f3f4f5",
        theme_color: "#0a5cad",
        icons: [
          { src: beside(icon), sizes: "any", type: "image/svg+xml", purpose: "any" },
          { src: beside(small), sizes: "192x192", type: "image/png", purpose: "any" },
          { src: beside(large), sizes: "512x512", type: "image/png", purpose: "any" },
          { src: beside(large), sizes: "512x512", type: "image/png", purpose: "maskable" },
        ],
      };
      names = { manifest: emit("manifest.webmanifest", JSON.stringify(manifest)), icon, touch: small };
      this.emitFile({ type: "asset", fileName: "robots.txt", source: content("robots.txt") });
    },
    transformIndexHtml: {
      order: "post",
      handler() {
        if (!names) return [];
        const link = (rel: string, name: string, more = {}) => ({ tag: "link", attrs: { rel, href: `./${name}`, ...more }, injectTo: "head" as const });
        return [link("icon", names.icon, { type: "image/svg+xml" }), link("apple-touch-icon", names.touch), link("manifest", names.manifest)];
      },
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
  plugins: [made("outlines", () => ({ far: basemap("far"), near: basemap("near"), ...coastFiles() })), made("towns", () => ({ places: places(), names: names() })), withoutPictures(), libraryAddress(), installable(), library(), early(), packed()],
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
