// The core of mesonet as WebAssembly: conversion of units, packed tiles. The map comes first, in metric units; what needs
// the core waits for it.
import { signal } from "@preact/signals";
import type { Mesonet } from "mesonet/slim";

const loaded = signal<Mesonet | undefined>(undefined);
let asked: Promise<Mesonet> | undefined;

/** Loads the core once; after a failure again. */
export function loadCore(): Promise<Mesonet> {
  asked ??= import("mesonet/slim").then(async ({ load }) => (loaded.value = await load()));
  asked.catch(() => (asked = undefined));
  return asked;
}

/** The core, if it is there; who reads it is drawn again when it comes. */
export const coreIfLoaded = (): Mesonet | undefined => loaded.value;

/** The core; it must have been loaded. */
export function core(): Mesonet {
  const it = loaded.peek();
  if (!it) throw new Error("the core is not loaded");
  return it;
}
