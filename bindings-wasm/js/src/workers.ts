/**
 * Tiles, time grids and model grids in workers: web workers, or threads of Node.
 *
 * @example
 * import { workerPool } from "mesonet/workers";
 * const pool = workerPool();
 * const pixels = await pool.paintTile(bytes, encoding, stops);
 * pool.close();
 */
import { className, flag, float64Array, integer, object, tileBytes, uint32Array } from "./check.js";
import { type ColourStop, scaleOf } from "./colour.js";
import { MesonetError } from "./error.js";
import type { Cell, GridDefinition, Position } from "./grid.js";
import { type Source, readable } from "./load.js";
import type { Resident } from "./resident.js";
import { type Encoding, encodingParts } from "./tile.js";
import { type ResampleOptions, type Resampled, timesOf } from "./time_grid.js";
import type { Rotation } from "./wind.js";

export { MesonetError } from "./error.js";
export type { Cell, GridDefinition, Position, Rotation, Source } from "./grids.js";
export type { ColourStop, Encoding, ResampleOptions, Resampled } from "./types.js";

/** A worker ended or could not be started, or the pool was closed. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
}

/** How a pool works. */
export interface PoolOptions {
  /**
   * The number of workers, from 1 to 64; by default the number of processors minus one, at most 8.
   */
  readonly workers?: number | undefined;
  /** By default `mesonet.wasm` beside this file. */
  readonly mesonet?: Source | undefined;
  /** By default `grids.wasm` beside this file, loaded when a grid is asked for. */
  readonly grids?: Source | undefined;
  /**
   * Makes a worker that runs `mesonet/worker`, for example from a separate bundle. The default is
   * `worker.js` beside this file.
   */
  readonly worker?: (() => Worker | Thread) | undefined;
}

/** The part of a worker of Node's `worker_threads` that is used here. */
export interface Thread {
  on(event: "message" | "error" | "messageerror" | "exit", heard: (value: never) => void): unknown;
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  terminate(): unknown;
  ref(): void;
  unref(): void;
}

/** Options of one task. */
export interface TaskOptions {
  /** Takes the task from the queue. If the task runs already, its result is thrown away. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Moves the given arrays to the worker instead of copying them: they are empty from the call on.
   * An array that is part of a larger or a shared buffer cannot be moved and is copied.
   */
  readonly transfer?: boolean | undefined;
}

/**
 * Workers that take tasks from one queue, first come, first served. The content of the arrays is
 * taken at the call; later changes do not count. Workers are started when they are needed.
 *
 * All tasks reject with {@link MesonetError} and `TypeError` like the functions of the same name,
 * with the reason of the signal that ended them, and with {@link WorkerError} if the worker ended
 * before it answered; the next task then gets a new worker.
 */
export interface WorkerPool extends Pick<Resident, typeof Symbol.dispose> {
  /** The greatest number of workers. */
  readonly workers: number;
  /** See `decodeTile` of `mesonet`. */
  decodeTile(
    tile: Uint8Array | ArrayBuffer,
    encoding: Encoding,
    options?: TaskOptions,
  ): Promise<Float64Array<ArrayBuffer>>;
  /**
   * The pixels of a tile: see `tileColours` of `mesonet`. Each worker keeps the tables of the latest
   * eight scales.
   */
  paintTile(
    tile: Uint8Array | ArrayBuffer,
    encoding: Encoding,
    stops: readonly ColourStop[],
    options?: TaskOptions,
  ): Promise<Uint8ClampedArray<ArrayBuffer>>;
  /** See `resample` of `mesonet`; the results are new arrays. */
  resample(
    ts: Float64Array | Int32Array,
    value: Float64Array,
    grid: Omit<ResampleOptions, "out"> & { readonly offsets?: Uint32Array | undefined },
    options?: TaskOptions,
  ): Promise<Resampled>;
  /** Fractional rows and columns of places on a model's grid: see `nativeGrid` of `mesonet/grids`. */
  locate(
    grid: GridDefinition,
    at: Position<Float64Array>,
    options?: TaskOptions,
  ): Promise<Cell<Float64Array>>;
  /** The centres of all cells of a model's grid, row by row. */
  positions(grid: GridDefinition, options?: TaskOptions): Promise<Position<Float64Array>>;
  /** The rotation of the winds of all cells of a model's grid, row by row. */
  windRotations(grid: GridDefinition, options?: TaskOptions): Promise<Rotation<Float64Array>>;
  /** Ends the workers. Waiting, running and later tasks reject with {@link WorkerError}. */
  close(): void;
}

/** The modules of WebAssembly that tasks need. */
type Module = "mesonet" | "grids";

/** A message to a worker; it has the modules only if the worker lacks them. */
export interface Order {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly modules?: Partial<Record<Module, WebAssembly.Module>>;
}
/** The answer of a worker. */
export type Answer =
  | { readonly value: unknown; readonly error?: undefined }
  | { readonly error: { readonly name: string; readonly message: string } };

interface Task {
  readonly order: Order;
  readonly needs: Module;
  readonly transfer: ArrayBuffer[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A worker of either kind. */
interface Handle {
  post(order: Order, transfer: ArrayBuffer[]): void;
  end(): void;
  /** Sets whether a program waits for the worker. */
  hold(isHeld: boolean): void;
}

interface Hears {
  answered(answer: Answer): void;
  died(why: string): void;
}

/**
 * A pool of workers. In Node a program ends while its workers are idle; elsewhere close the pool.
 *
 * @throws {MesonetError} for a number of workers out of range.
 */
export function workerPool(options: PoolOptions = {}): WorkerPool {
  const given = object(options, "options");
  const size = integer(given["workers"] ?? Math.min(8, Math.max(1, processors() - 1)), "workers", 1, 64);
  const make = given["worker"] as PoolOptions["worker"];
  if (make !== undefined && typeof make !== "function") {
    throw new TypeError(`worker must be a function; got ${className(make)}`);
  }
  const sources: Record<Module, () => Source> = {
    mesonet: () => options.mesonet ?? new URL("./mesonet.wasm", import.meta.url),
    grids: () => options.grids ?? new URL("./grids.wasm", import.meta.url),
  };
  const modules: Partial<Record<Module, Promise<WebAssembly.Module>>> = {};
  /** The tasks without an answer, and the tasks that wait for a worker. */
  const tasks = new Set<Task>();
  let queue: { readonly task: Task; readonly module: WebAssembly.Module }[] = [];
  const pool = new Set<{ handle: Handle; has: Set<Module>; task: Task | undefined }>();
  let isClosed = false;
  const closed = () => new WorkerError("this pool was closed");

  /** The module, compiled once for all workers. A failed load is repeated. */
  const moduleOf = (name: Module) =>
    (modules[name] ??= compiled(sources[name]()).catch((error: unknown) => {
      delete modules[name];
      throw error;
    }));

  const start = () => {
    const hears: Hears = {
      answered(answer) {
        const { task } = slot;
        slot.task = undefined;
        slot.handle.hold(false);
        if (answer.error === undefined) {
          task?.resolve(answer.value);
        } else {
          const error = errorOf(answer.error);
          if (error instanceof WorkerError) {
            // After a trap, or if a module did not load, the worker is not used again.
            pool.delete(slot);
            slot.handle.end();
          }
          task?.reject(error);
        }
        next();
      },
      died(why) {
        const { task } = slot;
        if (pool.delete(slot)) {
          slot.handle.end();
          task?.reject(new WorkerError(`a worker ended during ${task.order.name}: ${why}`));
          next();
        }
      },
    };
    const worker = make === undefined ? started() : make();
    const handle = worker instanceof EventTarget ? webWorker(worker, hears) : thread(worker, hears);
    const slot = { handle, has: new Set<Module>(), task: undefined as Task | undefined };
    pool.add(slot);
    return slot;
  };

  const next = () => {
    while (queue.length > 0) {
      let slot = [...pool].find(({ task }) => task === undefined);
      if (slot === undefined && pool.size === size) {
        return;
      }
      const { task, module } = queue.shift()!;
      const { order, needs, transfer } = task;
      try {
        slot ??= start();
        const isNew = !slot.has.has(needs);
        slot.task = task;
        slot.handle.hold(true);
        slot.handle.post(isNew ? { ...order, modules: { [needs]: module } } : order, transfer);
        slot.has.add(needs);
      } catch (error) {
        if (slot !== undefined) {
          slot.task = undefined;
          slot.handle.hold(false);
        }
        const why = error instanceof Error ? error.message : String(error);
        task.reject(new WorkerError(`a worker cannot be given a task: ${why}`, { cause: error }));
      }
    }
  };

  const run = (needs: Module, order: Order, transfer: ArrayBuffer[], signal: AbortSignal | undefined) =>
    new Promise((resolve, reject) => {
      const settle = <V>(how: (value: V) => void) => (value: V) => {
        tasks.delete(task);
        signal?.removeEventListener("abort", ended);
        how(value);
      };
      const task: Task = { order, needs, transfer, resolve: settle(resolve), reject: settle(reject) };
      const ended = () => {
        queue = queue.filter(({ task: other }) => other !== task);
        task.reject(signal!.reason);
      };
      signal?.addEventListener("abort", ended);
      tasks.add(task);
      moduleOf(needs).then((module) => {
        if (tasks.has(task)) {
          queue.push({ task, module });
          next();
        }
      }, task.reject);
    });

  /** Takes over the arrays of a task, and queues the task. */
  const ask = async (
    needs: Module,
    name: string,
    options: unknown,
    argsOf: (take: <A extends Taken>(array: A) => A) => unknown[],
  ): Promise<never> => {
    const { signal, transfer } = object(options, "options");
    const isMoved = flag(transfer ?? false, "transfer");
    const aborts = (signal ?? undefined) as AbortSignal | undefined;
    if (aborts !== undefined && !(aborts instanceof AbortSignal)) {
      throw new TypeError(`signal must be an AbortSignal; got ${className(aborts)}`);
    }
    aborts?.throwIfAborted();
    if (isClosed) {
      throw closed();
    }
    const buffers: ArrayBuffer[] = [];
    const args = argsOf((array) => {
      const own = taken(array, isMoved);
      buffers.push(own.buffer as ArrayBuffer);
      return own;
    });
    return (await run(needs, { name, args }, buffers, aborts)) as never;
  };

  const close = () => {
    isClosed = true;
    queue = [];
    for (const { handle } of pool) {
      handle.end();
    }
    pool.clear();
    for (const task of [...tasks]) {
      task.reject(closed());
    }
  };
  const gridOf = (definition: unknown) => ({ ...object(definition, "definition") });
  // Engines without the symbol have no `using` either.
  const dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");
  return Object.freeze<WorkerPool>({
    workers: size,
    decodeTile: (tile, encoding, options = {}) =>
      ask("mesonet", "decodeTile", options, (take) => {
        const [bytes, [scale, offset, nodata]] = [tileBytes(tile), encodingParts(encoding)];
        return [take(bytes), { scale, offset, nodata }];
      }),
    paintTile: (tile, encoding, stops, options = {}) =>
      ask("mesonet", "paintTile", options, (take) => {
        const [bytes, [scale, offset, nodata]] = [tileBytes(tile), encodingParts(encoding)];
        const [values, rgba] = scaleOf(stops);
        const plain = Array.from(values, (value, at) => ({ value, rgba: [...rgba.subarray(4 * at, 4 * at + 4)] }));
        return [take(bytes), { scale, offset, nodata }, plain];
      }),
    resample: (ts, value, grid, options = {}) =>
      ask("mesonet", "resample", options, (take) => {
        const [times, values] = [timesOf(ts), float64Array(value, "value")];
        const { startMs, endMs, stepMinutes, maxAgeMs, caps, offsets } = object(grid, "grid");
        const isOne = (offsets ?? undefined) === undefined;
        const bounds = isOne ? undefined : uint32Array(offsets, "offsets");
        const plain = { startMs, endMs, stepMinutes, maxAgeMs, caps };
        return [take(times), take(values), { ...plain, offsets: bounds && take(bounds) }];
      }),
    locate: (grid, at, options = {}) =>
      ask("grids", "locate", options, (take) => {
        const { lon, lat } = object(at, "position");
        const [lons, lats] = [float64Array(lon, "lon"), float64Array(lat, "lat")];
        return [gridOf(grid), { lon: take(lons), lat: take(lats) }];
      }),
    positions: (grid, options = {}) => ask("grids", "positions", options, () => [gridOf(grid)]),
    windRotations: (grid, options = {}) => ask("grids", "windRotations", options, () => [gridOf(grid)]),
    close,
    [dispose as typeof Symbol.dispose]: close,
  });
}

/** An array that a task takes. */
type Taken = Float64Array | Int32Array | Uint8Array | Uint32Array;

/** The array in a buffer of its own: moved if that is allowed and possible, otherwise copied. */
function taken<A extends Taken>(array: A, isMoved: boolean): A {
  const { buffer, byteLength, byteOffset } = array;
  if (isMoved && buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) {
    return structuredClone(array, { transfer: [buffer] });
  }
  // A clone of a part of a buffer would contain the whole buffer.
  const copy = new Uint8Array(byteLength);
  copy.set(new Uint8Array(buffer, byteOffset, byteLength));
  const Class = { Float64Array, Int32Array, Uint32Array, Uint8Array }[className(array) as "Uint8Array"];
  return new Class(copy.buffer) as A;
}

/** Loads a WebAssembly module from its source. */
async function compiled(source: Source): Promise<WebAssembly.Module> {
  const given = await readable(source);
  if (given instanceof WebAssembly.Module) {
    return given;
  }
  if (typeof given === "string" || given instanceof URL || given instanceof Response) {
    const response = given instanceof Response ? given : await fetch(given);
    if (!response.ok) {
      throw new WorkerError(`${response.url}: the answer was ${response.status}`);
    }
    return WebAssembly.compile(await response.arrayBuffer());
  }
  return WebAssembly.compile(given);
}

interface Engine {
  readonly navigator?: { readonly hardwareConcurrency?: number };
  readonly process?: {
    getBuiltinModule(name: "node:os"): { availableParallelism(): number };
    getBuiltinModule(name: "node:worker_threads"): {
      Worker: new (script: URL, options: { execArgv: string[] }) => Thread;
    };
  };
}
const { navigator, process } = globalThis as Engine;

function processors(): number {
  return navigator?.hardwareConcurrency ?? process?.getBuiltinModule("node:os").availableParallelism() ?? 2;
}

/** A worker of the kind that the engine supports. */
function started(): Worker | Thread {
  if (typeof Worker === "function") {
    // Bundlers look for this expression.
    return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  }
  if (process === undefined) {
    throw new Error("this engine has no workers");
  }
  const { Worker: Threads } = process.getBuiltinModule("node:worker_threads");
  const beside = import.meta.url;
  // Flags of the program, such as --input-type, do not apply to a file.
  return new Threads(new URL("./worker.js", beside), { execArgv: [] });
}

function webWorker(worker: Worker, { answered, died }: Hears): Handle {
  worker.onmessage = ({ data }) => answered(data as Answer);
  worker.onmessageerror = () => died("its answer cannot be read");
  worker.onerror = (event) => {
    event.preventDefault();
    died(event.message || "its script cannot be loaded or run");
  };
  // Some engines outside browsers wait for workers unless told not to.
  const held = worker as Worker & Partial<Pick<Thread, "ref" | "unref">>;
  return {
    post: (order, transfer) => worker.postMessage(order, transfer),
    end: () => worker.terminate(),
    hold: (isHeld) => (isHeld ? held.ref?.() : held.unref?.()),
  };
}

function thread(worker: Thread, { answered, died }: Hears): Handle {
  worker.on("message", (answer: Answer) => answered(answer));
  worker.on("messageerror", () => died("its answer cannot be read"));
  worker.on("error", (error: Error) => died(String(error)));
  worker.on("exit", (code: number) => died(`it ended with ${code}`));
  return {
    post: (order, transfer) => worker.postMessage(order, transfer),
    end: () => void worker.terminate(),
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
  };
}

/** The error of a worker, in its original class. */
function errorOf({ name, message }: { name: string; message: string }): Error {
  const classes: Record<string, new (message: string) => Error> = { MesonetError, TypeError };
  return Object.hasOwn(classes, name) ? new classes[name]!(message) : new WorkerError(`${name}: ${message}`);
}
