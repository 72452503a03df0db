/** A value that mesonet refuses. The message says what was given and what is allowed. */
export class MesonetError extends RangeError {
  override readonly name = "MesonetError";
}

/**
 * Runs a function of the module. A refusal becomes a {@link MesonetError} with its message. A trap,
 * which would be a bug in this library, is passed through unchanged.
 */
export function refusing<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && !(error instanceof WebAssembly.RuntimeError)) {
      throw new MesonetError(error.message);
    }
    throw error;
  }
}
