/**
 * A typed client of the service, on `fetch`. It loads no WebAssembly.
 *
 * @example
 * import { connect } from "mesonet/client";
 * const service = connect("http://127.0.0.1:8080");
 * const { features } = await service.getStationMarkers();
 */
import { className, integer, text } from "./check.js";
import { MesonetError } from "./error.js";
import { OPERATIONS, type Operations, TAGGED } from "./generated/api.js";
import { EventReader, type LiveEvent } from "./live.js";
import {
  ConnectionError,
  RateLimitError,
  ServerFaultError,
  ServiceError,
  UnavailableError,
  errorOf,
} from "./service_error.js";

export { MesonetError } from "./error.js";
export type * from "./generated/api.js";
export type { LiveEvent } from "./live.js";
export {
  ConnectionError,
  CredentialError,
  type Failure,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
  ServerFaultError,
  ServiceError,
  UnavailableError,
} from "./service_error.js";

/** How a client talks to the service. */
export interface ClientOptions {
  /**
   * An account token or API key, or a function that returns one; the function is called before each
   * attempt. By default no credential is sent except the cookie that browsers send.
   */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>);
  /** How requests are sent; by default the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** How many times a request is repeated after a 429 or 503; by default 4. */
  readonly retries?: number;
  /**
   * The longest wait before an attempt in milliseconds; by default 30,000. If the service asks for
   * a longer wait, the client gives up.
   */
  readonly maxWaitMs?: number;
}

/** Options of one request. */
export interface RequestOptions {
  /** Ends the request, its waits and the reading of its answer. */
  readonly signal?: AbortSignal | undefined;
}

/** The parameters of an operation. Lists, dates and the body are written as the service expects. */
export type Parameters<Id extends keyof Operations> = Operations[Id]["parameters"];

type Call<Id extends keyof Operations> = (
  ...given: object extends Parameters<Id>
    ? [parameters?: Parameters<Id>, options?: RequestOptions]
    : [parameters: Parameters<Id>, options?: RequestOptions]
) => Promise<Operations[Id]["result"]>;

/** The media types of a bulk export. */
const BULK_TYPES = {
  csv: "text/csv",
  arrow: "application/vnd.apache.arrow.stream",
  parquet: "application/vnd.apache.parquet",
} as const;

/** The format of a bulk export. */
export type BulkFormat = keyof typeof BULK_TYPES;

/** A page of a bulk export. */
export interface BulkPage {
  /** A whole file in the format: each page of CSV has the header row. */
  data: Uint8Array<ArrayBuffer>;
  /** Whether the station has such a series; without a series there are no rows. */
  seriesFound: boolean;
  /**
   * Where the next page begins; undefined on the last page. Pass it as `cursor` to continue an
   * export there.
   */
  nextCursor: string | undefined;
}

/** The operations that can be watched: their answers have a tag (ETag). */
export type Watchable = (typeof TAGGED)[number] & keyof Operations;

/** The longest silence of a stream of events; the service sends something every 15 seconds. */
const SILENCE_MS = 60_000;

/** All operations of the service, named as in its description, exports page by page, and events. */
export type Client = { readonly [Id in Exclude<keyof Operations, "exportReadings" | "listen">]: Call<Id> } & {
  /**
   * What changes, as it changes, until you stop. A broken connection is made again, and the stream
   * goes on after the last event, also across restarts of the server. An event of the topic `resync`
   * says that some could not be told: fetch anew what you show.
   *
   * @param parameters Which events; `lastEventId` goes on after an event of an earlier call.
   * @throws {ServiceError} like any request, once `retries` connections in a row have failed, and the
   * reason of the signal.
   */
  live(parameters?: Parameters<"listen">, options?: RequestOptions): AsyncIterableIterator<LiveEvent>;
  /**
   * All readings of a station, page by page. Each page is requested when it is needed.
   *
   * @param options The format, by default CSV. @throws {ServiceError} like any request; earlier
   * pages have been returned by then.
   */
  bulkPages(
    parameters: Parameters<"exportReadings">,
    options?: RequestOptions & { readonly format?: BulkFormat },
  ): AsyncIterableIterator<BulkPage>;
  /**
   * The answers of an operation: the first answer, and each answer that differs from the one
   * before. No connection stays open between them. After each wait, the client asks again with the
   * tag of the last answer; if nothing has changed, the service says so without sending the answer.
   *
   * @param options The wait between an answer and the next request in milliseconds, at least 1000,
   * by default 60,000. @throws {ServiceError} like any request, which ends the watch, and the
   * reason of the signal.
   */
  watch<Id extends Watchable>(
    id: Id,
    parameters: Parameters<Id>,
    options?: RequestOptions & { readonly intervalMs?: number },
  ): AsyncIterableIterator<Operations[Id]["result"]>;
};

/** Repeated only if the service has not acted on the request; it says so with a 429. */
const ACTS: readonly (keyof Operations)[] = ["issueKey", "revokeKey", "pushFile"];

/**
 * A client of the service at an address.
 *
 * Each operation takes its parameters in one object, with the body of a POST as `body`, and returns
 * the answer of the service. After a 429 or 503 the client waits and repeats the request. It waits
 * as long as `Retry-After` says, or half a second, doubled each time.
 *
 * @param origin Address of the service, such as `https://weather.example`, with the path below which
 * it is, if any.
 * @throws {TypeError} for an invalid address. The operations reject with a {@link ServiceError}
 * whose class says what went wrong, or with the reason of the signal that ended them.
 */
export function connect(origin: string | URL, options: ClientOptions = {}): Client {
  const base = new URL(origin);
  const retries = integer(options.retries ?? 4, "retries", 0, 100);
  const maxWaitMs = integer(options.maxWaitMs ?? 30_000, "maxWaitMs", 0, 2 ** 31 - 1);
  const { token, fetch: send = (request: Request) => fetch(request) } = options;

  /** Sends a request, repeats it if allowed, and reads the answer. */
  async function ask<T>(
    id: keyof Operations,
    given: Record<string, unknown>,
    own: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
    ends: AbortSignal | undefined = signal,
  ): Promise<T> {
    const { method } = OPERATIONS[id];
    const address = addressOf(base, id, given);
    const body = bodyOf(given["body"]);
    const what = `${method} ${address}`;
    for (let attempt = 0; ; attempt += 1) {
      const headers = new Headers(own);
      if (typeof body === "string") {
        headers.set("content-type", "application/json");
      }
      const credential = typeof token === "function" ? await token() : token;
      if (credential !== undefined) {
        headers.set("authorization", `Bearer ${credential}`);
      }
      signal?.throwIfAborted();
      let error;
      try {
        const response = await send(new Request(address, { method, headers, body, signal: ends ?? null }));
        if (response.ok || (response.status === 304 && headers.has("if-none-match"))) {
          return await read(response);
        }
        error = await errorOf(response, what);
      } catch (cause) {
        signal?.throwIfAborted();
        if (cause instanceof SyntaxError) {
          const message = `${what}: the answer is not JSON`;
          throw new ServerFaultError(message, { ...NO_ANSWER, request: what }, { cause });
        }
        throw new ConnectionError(`${what}: no answer`, { ...NO_ANSWER, request: what }, { cause });
      }
      const unharmed = !ACTS.includes(id) && error instanceof UnavailableError;
      const waitMs = error.retryAfterMs ?? 500 * 2 ** attempt * (0.5 + Math.random() / 2);
      if (!(error instanceof RateLimitError || unharmed) || attempt >= retries || waitMs > maxWaitMs) {
        throw error;
      }
      await pause(waitMs, signal);
    }
  }

  const READERS = {
    json: (response: Response) => response.json() as Promise<unknown>,
    text: (response: Response) => response.text(),
    bytes: (response: Response) => response.arrayBuffer(),
  };
  const call =
    (id: keyof Operations) =>
    async (parameters: object = {}, { signal }: RequestOptions = {}) =>
      ask(id, { ...parameters }, {}, signal, READERS[OPERATIONS[id].read]);

  async function* bulkPages(
    parameters: Parameters<"exportReadings">,
    { signal, format = "csv" }: RequestOptions & { readonly format?: BulkFormat } = {},
  ): AsyncGenerator<BulkPage, void, undefined> {
    const accept = Object.hasOwn(BULK_TYPES, format) ? BULK_TYPES[format] : undefined;
    if (accept === undefined) {
      const allowed = Object.keys(BULK_TYPES).join(", ");
      throw new MesonetError(`format must be one of ${allowed}; got ${JSON.stringify(format)}`);
    }
    const readPage = async (response: Response): Promise<BulkPage> => ({
      data: new Uint8Array(await response.arrayBuffer()),
      seriesFound: response.headers.get("x-series-found") !== "False",
      nextCursor:
        response.headers.get("x-has-more") === "True"
          ? (response.headers.get("x-next-cursor") ?? undefined)
          : undefined,
    });
    let given: Parameters<"exportReadings"> = parameters;
    for (;;) {
      const page = await ask("exportReadings", { ...given }, { accept }, signal, readPage);
      yield page;
      if (page.nextCursor === undefined) {
        return;
      }
      given = { ...parameters, cursor: page.nextCursor };
    }
  }

  async function* watch(
    id: Watchable,
    parameters: object,
    { signal, intervalMs = 60_000 }: RequestOptions & { readonly intervalMs?: number } = {},
  ): AsyncGenerator<unknown, void, undefined> {
    if (!TAGGED.includes(id)) {
      throw new MesonetError(`${JSON.stringify(id)} cannot be watched; allowed are ${TAGGED.join(", ")}`);
    }
    const waitMs = integer(intervalMs, "intervalMs", 1000, 2 ** 31 - 1);
    let tag: string | undefined;
    for (;;) {
      const own: Record<string, string> = tag === undefined ? {} : { "if-none-match": tag };
      const changed = await ask(id, { ...parameters }, own, signal, async (response) => {
        const now = response.headers.get("etag") ?? undefined;
        // Browsers may answer from their cache; the tag is then the same.
        if (response.status === 304 || (now !== undefined && now === tag)) {
          await response.body?.cancel();
          return undefined;
        }
        tag = now;
        return { answer: await READERS[OPERATIONS[id].read](response) };
      });
      if (changed !== undefined) {
        yield changed.answer;
      }
      await pause(waitMs, signal);
    }
  }

  async function* live(
    parameters: Parameters<"listen"> = {},
    { signal }: RequestOptions = {},
  ): AsyncGenerator<LiveEvent, void, undefined> {
    const { lastEventId = "", ...given } = parameters;
    let reader = new EventReader(written(lastEventId, "lastEventId"));
    for (let failures = 0; ; failures += 1) {
      reader = Object.assign(new EventReader(reader.id), { retryMs: reader.retryMs });
      const own: Record<string, string> = { accept: "text/event-stream" };
      if (reader.id !== "") {
        own["last-event-id"] = reader.id;
      }
      // The stream ends with the caller, and after a silence.
      const ended = new AbortController();
      const end = () => ended.abort(signal?.reason);
      signal?.addEventListener("abort", end, { once: true });
      let timer: ReturnType<typeof setTimeout> | undefined;
      let cause: unknown;
      try {
        const pieces = await ask("listen", { ...given }, own, signal, async (response) => response.body, ended.signal);
        const body = pieces?.getReader();
        for (;;) {
          clearTimeout(timer);
          timer = setTimeout(() => ended.abort(new Error("the stream is silent")), SILENCE_MS);
          const piece = await body?.read();
          if (piece === undefined || piece.done) {
            break;
          }
          failures = 0;
          yield* reader.read(piece.value);
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof ServiceError && !(error instanceof ConnectionError)) {
          throw error;
        }
        cause = error;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        ended.abort();
      }
      if (failures >= retries) {
        const what = `GET ${addressOf(base, "listen", { ...given })}`;
        throw new ConnectionError(`${what}: the stream broke off`, { ...NO_ANSWER, request: what }, { cause });
      }
      // Not all at once, after the server has restarted.
      await pause(Math.min(maxWaitMs, Math.max(500 * 2 ** failures, reader.retryMs) * (0.1 + Math.random() * 0.9)), signal);
    }
  }

  const special = ["exportReadings", "listen"];
  const ids = (Object.keys(OPERATIONS) as (keyof Operations)[]).filter((id) => !special.includes(id));
  const calls = Object.fromEntries(ids.map((id) => [id, call(id)]));
  return Object.freeze({ ...calls, bulkPages, watch, live }) as unknown as Client;
}

const NO_ANSWER = { status: 0, requestId: undefined, retryAfterMs: undefined };

/** The address of a request. A parameter that the operation does not have is refused. */
function addressOf(base: URL, id: keyof Operations, given: Record<string, unknown>): string {
  const { path, query, repeated } = OPERATIONS[id];
  const used = new Set(["body", ...query]);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    used.add(name);
    const part = written(given[name], name);
    // These two would change the path.
    if (part === "" || part === "." || part === "..") {
      throw new MesonetError(`${name} must be a name; got ${JSON.stringify(part)}`);
    }
    return encodeURIComponent(part);
  });
  const unknown = Object.keys(given).find((name) => !used.has(name));
  if (unknown !== undefined) {
    const allowed = [...used].join(", ");
    throw new MesonetError(`${id} has no parameter ${JSON.stringify(unknown)}; allowed are ${allowed}`);
  }
  const address = new URL(base.pathname.replace(/\/$/, "") + filled, base);
  for (const name of query) {
    const value = given[name];
    if (value === undefined) {
      continue;
    }
    if (isEntries(value)) {
      // `unit: { airTemperature: "°F" }` is written `unit.airTemperature=°F`.
      for (const [key, one] of Object.entries(value)) {
        address.searchParams.set(`${name}.${key}`, written(one, `${name}.${key}`));
      }
    } else if (repeated.includes(name) && Array.isArray(value)) {
      value.forEach((one) => address.searchParams.append(name, written(one, name)));
    } else {
      const parts = Array.isArray(value) ? value : [value];
      address.searchParams.set(name, parts.map((one) => written(one, name)).join(","));
    }
  }
  return address.href;
}

/** Whether a parameter has entries, each of which is written by its name. */
const isEntries = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** A value as it is written in an address. */
function written(value: unknown, name: string): string {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) {
      throw new MesonetError(`${name} must be a date; got an invalid one`);
    }
    return value.toISOString();
  }
  if (typeof value === "boolean" || Number.isFinite(value)) {
    return String(value);
  }
  if (typeof value === "number") {
    throw new MesonetError(`${name} must be finite; got ${value}`);
  }
  return text(value, name);
}

/** The body: bytes as they are, an object as JSON. */
function bodyOf(given: unknown): BodyInit | null {
  if (given === undefined) {
    return null;
  }
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`body must be an object; got ${className(given)}`);
  }
  const isBytes = given instanceof ArrayBuffer || ArrayBuffer.isView(given) || given instanceof Blob;
  return isBytes ? (given as BodyInit) : JSON.stringify(given);
}

/** Waits, unless the signal ends it. */
async function pause(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const ended = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", ended);
      resolve();
    }, waitMs);
    signal?.addEventListener("abort", ended, { once: true });
  });
}
