// The core of mesonet as WebAssembly: conversion of units, quality codes, packed tiles.
import type { Mesonet } from "mesonet/slim";
import { load } from "mesonet/slim";

let loaded: Mesonet | undefined;

/** Loads the core once. */
export async function loadCore(): Promise<Mesonet> {
  loaded = await load();
  return loaded;
}

/** The core; it must have been loaded. */
export function core(): Mesonet {
  if (!loaded) throw new Error("the core is not loaded");
  return loaded;
}
