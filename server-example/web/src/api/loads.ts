// What the page loads by itself when a layer is shown, and what of it could not be had.
import { signal } from "@preact/signals";

import { isOffline } from "./client";

export interface Failure {
  /** In the words of the server. */
  readonly text: string;
  readonly again: () => void;
}

/** By the name of what was to be loaded. */
export const failures = signal<ReadonlyMap<string, Failure>>(new Map());

/** Loads something; a failure is noted until it has come. What is missed while the server is away is asked again by itself. */
export async function load(name: string, what: () => Promise<void>): Promise<void> {
  setFailure(name);
  try {
    await what();
  } catch (error) {
    if (!isOffline.value) setFailure(name, { text: (error as Error).message, again: () => void load(name, what) });
  }
}

/** Notes a failure, or that it is over. */
export function setFailure(name: string, failure?: Failure): void {
  const next = new Map(failures.peek());
  if (failure) next.set(name, failure);
  else if (!next.delete(name)) return;
  failures.value = next;
}
