/** Where WebAssembly comes from: an address, a response, its bytes, or a compiled module. */
export type Source = string | URL | Response | BufferSource | WebAssembly.Module;

/**
 * A load that runs once, however often it is called. A failed load is repeated at the next call.
 */
export function once<T>(
  load: (source: Source) => Promise<T>,
): (source: Source | Promise<Response>) => Promise<T> {
  let loaded: Promise<T> | undefined;
  return (source) => {
    loaded ??= readable(source)
      .then(load)
      .catch((error: unknown) => {
        loaded = undefined;
        throw error;
      });
    return loaded;
  };
}

interface Engine {
  readonly process?: {
    readonly getBuiltinModule?: (name: "node:fs/promises") => { readFile(file: URL): Promise<Uint8Array<ArrayBuffer>> };
  };
}

/** The source, or the bytes of a file of Node, whose fetch reads no files. */
export async function readable(source: Source | Promise<Response>): Promise<Source> {
  const given = await source;
  const isAddress = typeof given === "string" || given instanceof URL;
  if (!isAddress || !String(given).startsWith("file:")) {
    return given;
  }
  const files = (globalThis as Engine).process?.getBuiltinModule?.("node:fs/promises");
  return files === undefined ? given : files.readFile(new URL(given));
}
