import { MesonetError } from "./error.js";

declare global {
  // The same symbol, whether or not the compiler of the user knows it.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

/** Something that lies in the memory of WebAssembly until it is freed. */
export interface Resident {
  /**
   * Gives the memory back; from then on its functions throw {@link MesonetError}. Freeing it again
   * does nothing. If it is never freed, the garbage collector frees it at some time.
   */
  free(): void;
  /** The same, for `using`. */
  [Symbol.dispose](): void;
}

/** The object of the module while it exists, and a function that frees it. */
export function resident<R extends { free(): void }>(of: R, what: string): [() => R, Resident] {
  let held: R | undefined = of;
  const get = () => {
    if (held === undefined) {
      throw new MesonetError(`${what} was freed`);
    }
    return held;
  };
  const free = () => {
    held?.free();
    held = undefined;
  };
  // Engines without the symbol have no `using` either.
  const dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");
  return [get, { free, [dispose as typeof Symbol.dispose]: free }];
}
