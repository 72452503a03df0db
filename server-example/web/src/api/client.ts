// Requests to the service: one place that waits where too many were sent, notices that the server is
// away and when it is back, and says what is under way.
import { signal } from "@preact/signals";

import type { Index } from "./types";

/** Whether the server cannot be reached; the page keeps what it shows. */
export const isOffline = signal(false);
/** Until when the server refuses requests because too many were sent, as a time of this machine. */
export const limitedUntil_ms = signal(0);
/** What is being loaded: name and part done, 0 to 1. */
export const loading = signal<ReadonlyMap<string, number>>(new Map());
/** What the server is; undefined until it has answered. */
export const about = signal<Index | undefined>(undefined);
/** Counts how often the server came back, so that what failed is asked again. */
export const returns = signal(0);

/** An answer that is not what was asked for, in the words of the server. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export interface Asking {
  /** Shown while it lasts. */
  readonly name?: string;
  readonly signal?: AbortSignal;
  readonly body?: unknown;
  readonly accept?: string;
  /** One of many: it waits for those before it, and lets what is asked singly pass. */
  readonly isTile?: boolean;
  /** First and last byte of a part. */
  readonly range?: readonly [number, number];
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 16_000;
const RETRY_MS = 1_500;
/** Browsers open six connections to a server: some stay free beside tiles. */
const TILES_AT_ONCE = 4;

let api = "api/v1";
let models = "";

/** An address of the observation service. */
export const observations = (path: string): string => `${api}${path}`;
/** An address of the model service. */
export const modelService = (path: string): string => `${models}${path}`;

/** Asks the server what it is, or has been asked: its prefixes, and whether it replays. */
export async function meet(asked?: Promise<Response>): Promise<Index> {
  const given = await asked?.catch(() => undefined);
  const index = given?.ok ? ((await given.json()) as Index) : await askJson<Index>("./", { accept: "application/json" });
  const prefix = (ending: string) =>
    index.endpoints.find((text) => text.endsWith(ending))?.slice("GET /".length, -ending.length) ?? "";
  api = prefix("/stations/map/markers");
  models = prefix("models/coverage");
  about.value = index;
  clockAt = Date.now();
  return index;
}

let clockAt = 0;

/** The server's time now, milliseconds since 1970. */
export function now_ms(): number {
  const replay = about.value?.replay;
  return replay === undefined ? Date.now() : Date.parse(replay) + Date.now() - clockAt;
}

export async function askJson<T>(address: string, asking: Asking = {}): Promise<T> {
  const response = await ask(address, asking);
  return JSON.parse(new TextDecoder().decode(await bytesOf(response, asking))) as T;
}

/** Asks for something that has several addresses. Also returns the last part of its own one. */
export async function askNamed<T>(address: string, asking: Asking = {}): Promise<{ of: T; own: string }> {
  const response = await ask(address, asking);
  const own = response.headers.get("content-location") ?? address;
  const of = JSON.parse(new TextDecoder().decode(await bytesOf(response, asking))) as T;
  return { of, own: own.slice(own.lastIndexOf("/") + 1) };
}

export async function askBytes(address: string, asking: Asking = {}): Promise<ArrayBuffer> {
  const bytes = await bytesOf(await ask(address, asking), asking);
  return bytes.buffer as ArrayBuffer;
}

let running = 0;
const waiting: (() => void)[] = [];

async function ask(address: string, asking: Asking): Promise<Response> {
  if (!asking.isTile) return insist(address, asking);
  if (running >= TILES_AT_ONCE) await new Promise<void>((go) => waiting.push(go));
  running += 1;
  try {
    return await insist(address, asking);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

/** Asks until the server has taken the request. */
async function insist(address: string, asking: Asking): Promise<Response> {
  for (let wait_ms = FIRST_WAIT_MS; ; wait_ms = Math.min(wait_ms * 2, LONGEST_WAIT_MS)) {
    asking.signal?.throwIfAborted();
    const left_ms = limitedUntil_ms.value - Date.now();
    if (left_ms > 0) await sleep(left_ms, asking.signal);
    const response = await once(address, asking);
    if (response.status !== 429) {
      if (!response.ok) throw new Refusal(response.status, await reason(response));
      return response;
    }
    limitedUntil_ms.value = Math.max(limitedUntil_ms.value, Date.now() + wait_ms);
  }
}

async function once(address: string, { signal, body, accept, range }: Asking): Promise<Response> {
  const headers: Record<string, string> = { accept: accept ?? "application/json" };
  if (range) headers.range = `bytes=${range[0]}-${range[1]}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    const init: RequestInit = { headers, method: body === undefined ? "GET" : "POST" };
    if (signal) init.signal = signal;
    if (body !== undefined) init.body = JSON.stringify(body);
    return await fetch(address, init);
  } catch (error) {
    signal?.throwIfAborted();
    noticeAbsence();
    throw error;
  }
}

/** The sentence of a refusal: a bare JSON string, or the reason of a rejected token. */
async function reason(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const said: unknown = JSON.parse(text);
    if (typeof said === "string") return said;
    if (said && typeof said === "object" && "reason" in said) return `token: ${String(said.reason)}`;
  } catch {
    // Not JSON: the status says what it is.
  }
  return `${response.status} ${response.statusText}`;
}

async function bytesOf(response: Response, { name }: Asking): Promise<Uint8Array> {
  if (name === undefined || !response.body) return new Uint8Array(await response.arrayBuffer());
  // The length that is announced is that of the compressed answer, often an eighth of what is read.
  const total = Number(response.headers.get("content-length")) || 2_000_000;
  const pieces: Uint8Array[] = [];
  let length = 0;
  note(name, 0);
  try {
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      length += value.length;
      note(name, Math.min(length / (total * (length > total ? 8 : 1)), 0.95));
    }
  } finally {
    note(name);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function note(name: string, part?: number): void {
  const next = new Map(loading.value);
  if (part === undefined) next.delete(name);
  else next.set(name, part);
  loading.value = next;
}

/** Looks again and again until the server is back. */
function noticeAbsence(): void {
  if (isOffline.value) return;
  isOffline.value = true;
  const look = async () => {
    try {
      const response = await fetch("./", { headers: { accept: "application/json" } });
      if (!response.ok) throw new Error(response.statusText);
      about.value = (await response.json()) as Index;
      clockAt = Date.now();
      isOffline.value = false;
      returns.value += 1;
    } catch {
      setTimeout(look, RETRY_MS);
    }
  };
  setTimeout(look, RETRY_MS);
}

export function sleep(for_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, for_ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
