// Checks before the boundary to WebAssembly, which coerces silently: 70000 would become 4464 there,
// undefined 0, and a Float32Array would be copied element by element.
import { MesonetError } from "./error.js";

interface Classes {
  ArrayBuffer: ArrayBuffer;
  Float32Array: Float32Array;
  Float64Array: Float64Array;
  Int16Array: Int16Array;
  Int32Array: Int32Array;
  Uint8Array: Uint8Array;
  Uint8ClampedArray: Uint8ClampedArray;
  Uint32Array: Uint32Array;
}

// These getters work for arrays and buffers of every frame, but not for lookalikes.
const typedArrayName = getter(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
const bufferLength = getter(ArrayBuffer.prototype, "byteLength");

function getter(prototype: object, key: PropertyKey): (this: unknown) => unknown {
  return Object.getOwnPropertyDescriptor(prototype, key)!.get!;
}

/** The name of a value's class in messages. */
export function className(value: unknown): string {
  if (value === null || typeof value !== "object") {
    return value === null ? "null" : typeof value;
  }
  // A Node Buffer is reported as Uint8Array, which it is.
  return String(typedArrayName.call(value) ?? Object.prototype.toString.call(value).slice(8, -1));
}

/** Whether a value is of a typed array or buffer class, from this frame or another. */
export function isClass<K extends keyof Classes>(value: unknown, name: K): value is Classes[K] {
  if (name !== "ArrayBuffer") {
    return typedArrayName.call(value) === name;
  }
  try {
    return bufferLength.call(value) !== undefined;
  } catch {
    return false;
  }
}

/** The most bytes of one array, so that it fits into the memory of WebAssembly beside others. */
const MAX_BYTES = 2 ** 30;

/**
 * The array or buffer. It is refused if it is too long, or if it was transferred away, which leaves
 * it empty.
 */
export function attached<A extends ArrayBufferView | ArrayBuffer>(array: A, what: string): A {
  if (array.byteLength === 0 && isDetached(array)) {
    throw new TypeError(`${what} has lost its content: its buffer was transferred`);
  }
  if (array.byteLength > MAX_BYTES) {
    throw new MesonetError(
      `${what} must have at most ${MAX_BYTES} bytes; got ${array.byteLength}`,
    );
  }
  return array;
}

function isDetached(array: ArrayBufferView | ArrayBuffer): boolean {
  try {
    new Uint8Array("buffer" in array ? array.buffer : array);
    return false;
  } catch {
    return true;
  }
}

/** The bytes of a tile, or a TypeError. */
export function tileBytes(value: unknown): Uint8Array {
  if (isClass(value, "Uint8Array")) {
    return attached(value, "tile");
  }
  if (isClass(value, "ArrayBuffer")) {
    return new Uint8Array(attached(value, "tile"));
  }
  throw new TypeError(`tile must be a Uint8Array or an ArrayBuffer; got ${className(value)}`);
}

/** A Float64Array, or a TypeError. */
export function float64Array(value: unknown, what: string): Float64Array {
  if (!isClass(value, "Float64Array")) {
    throw new TypeError(`${what} must be a Float64Array; got ${className(value)}`);
  }
  return attached(value, what);
}

/** A Uint8Array, or a TypeError. */
export function uint8Array(value: unknown, what: string): Uint8Array {
  if (!isClass(value, "Uint8Array")) {
    throw new TypeError(`${what} must be a Uint8Array; got ${className(value)}`);
  }
  return attached(value, what);
}

/** A Uint32Array, or a TypeError. */
export function uint32Array(value: unknown, what: string): Uint32Array {
  if (!isClass(value, "Uint32Array")) {
    throw new TypeError(`${what} must be a Uint32Array; got ${className(value)}`);
  }
  return attached(value, what);
}

/** The classes of outputs. */
const OUTPUTS = { Float32Array, Float64Array, Int32Array, Uint8Array, Uint8ClampedArray };
type Outputs = Pick<Classes, keyof typeof OUTPUTS>;

/** The class of an output, in this frame. */
export function outputClass(output: Outputs[keyof Outputs]): (typeof OUTPUTS)[keyof Outputs] {
  return OUTPUTS[className(output) as keyof Outputs];
}

/**
 * The output that the caller gives, checked, or a new array of the first of the classes. `each` says
 * in a message what the places of the output are for.
 */
export function output<K extends keyof Outputs>(
  given: unknown,
  what: string,
  classes: readonly K[],
  length: number,
  each: string,
): Outputs[K] {
  if (given === undefined || given === null) {
    return made(classes[0]!, length);
  }
  if (!classes.some((name) => isClass(given, name))) {
    throw new TypeError(`${what} must be a ${classes.join(" or a ")}; got ${className(given)}`);
  }
  const array = attached(given as Outputs[K], what);
  if (array.length !== length) {
    throw new MesonetError(`${what} must have ${length} places, ${each}; got ${array.length}`);
  }
  return array;
}

function made<K extends keyof Outputs>(name: K, length: number): Outputs[K] {
  try {
    return new OUTPUTS[name](length) as Outputs[K];
  } catch {
    throw new MesonetError(`no memory is left for ${length} values`);
  }
}

/** Refuses an output that shares memory with an input, which would be overwritten while it is read. */
export function apart(out: ArrayBufferView, input: ArrayBufferView, what: string): void {
  const isApart =
    out.buffer !== input.buffer ||
    out.byteOffset + out.byteLength <= input.byteOffset ||
    input.byteOffset + input.byteLength <= out.byteOffset;
  if (!isApart) {
    throw new MesonetError(`out must not share memory with the ${what}`);
  }
}

/** A number, NaN and infinities included, or a TypeError. */
export function number(value: unknown, what: string): number {
  if (typeof value !== "number") {
    throw new TypeError(`${what} must be a number; got ${className(value)}`);
  }
  return value;
}

/** A text, or a TypeError. */
export function text(value: unknown, what: string): string {
  if (typeof value !== "string") {
    throw new TypeError(`${what} must be a string; got ${className(value)}`);
  }
  return value;
}

/** A text, or undefined if there is none, or a TypeError. */
export function optionalText(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : text(value, what);
}

/** An integer that fits 16 bits. */
export function int16(value: unknown, what: string): number {
  return integer(value, what, -(2 ** 15), 2 ** 15 - 1);
}

/** An integer that fits 32 bits. */
export function int32(value: unknown, what: string): number {
  return integer(value, what, -(2 ** 31), 2 ** 31 - 1);
}

/** An integer that fits 32 bits and is not negative. */
export function uint32(value: unknown, what: string): number {
  return integer(value, what, 0, 2 ** 32 - 1);
}

/** Whole milliseconds since 1970, or of a duration. */
export function milliseconds(value: unknown, what: string): number {
  const checked = number(value, what);
  if (!Number.isSafeInteger(checked)) {
    throw new MesonetError(`${what} must be whole milliseconds; got ${checked}`);
  }
  return checked;
}

/** A boolean, or a TypeError. */
export function flag(value: unknown, what: string): boolean {
  if (typeof value !== "boolean") {
    throw new TypeError(`${what} must be a boolean; got ${className(value)}`);
  }
  return value;
}

/** A plain array without gaps, or a TypeError. */
export function array(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) {
    throw new TypeError(`${what} must be an array; got ${className(value)}`);
  }
  return Array.from(value);
}

/** An integer of a range. */
export function integer(value: unknown, what: string, min: number, max: number): number {
  const checked = number(value, what);
  if (!Number.isInteger(checked) || checked < min || checked > max) {
    throw new MesonetError(`${what} must be an integer from ${min} to ${max}; got ${checked}`);
  }
  return checked;
}

/** An object, or a TypeError. */
export function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    throw new TypeError(`${what} must be an object; got ${className(value)}`);
  }
  return value as Record<string, unknown>;
}

/** Refuses options that what is given has already. */
export function refuseOptions(options: object, given: string): void {
  const [first] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
  if (first !== undefined) {
    throw new MesonetError(`${first} is decided by the ${given} that is given`);
  }
}
