/** Where WebAssembly comes from: an address, a response, its bytes, or a compiled module. */
export type Source = string | URL | Response | BufferSource | WebAssembly.Module;

/**
 * A load that runs once, however often it is called. A failed load is repeated at the next call.
 */
export function once<T>(
  load: (source: Source | Promise<Response>) => Promise<T>,
): (source: Source | Promise<Response>) => Promise<T> {
  let loaded: Promise<T> | undefined;
  return (source) => {
    loaded ??= load(source).catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
