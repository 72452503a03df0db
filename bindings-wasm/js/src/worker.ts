/**
 * The code that runs in a worker of `mesonet/workers`. The pool loads it. For a bundler that does
 * not follow addresses of workers (esbuild), build it as a separate file, `worker.js` beside the
 * bundle.
 */
import type { ColourStop } from "./colour.js";
import { type GridDefinition, type GridFunctions, type Position, load as loadGrids } from "./grids.js";
import type { Mesonet } from "./mesonet.js";
import { load } from "./slim.js";
import type { Encoding } from "./tile.js";
import type { Answer, Order } from "./workers.js";

/** How many tables of colours (256 KB each) and grids a worker keeps for the next task. */
const MAX_KEPT = 8;

/** Keeps the results for the latest inputs, and frees the results that it drops. */
function kept<G extends unknown[], T>(make: (...given: G) => T, free: (of: T) => void): (...given: G) => T {
  const all = new Map<string, T>();
  return (...given) => {
    const key = keyOf(given);
    const found = all.get(key) ?? make(...given);
    all.delete(key);
    all.set(key, found);
    for (const [oldest, of] of all) {
      if (all.size <= MAX_KEPT) {
        break;
      }
      all.delete(oldest);
      free(of);
    }
    return found;
  };
}

/**
 * A text that differs if anything in plain objects differs: NaN is not null, -0 is not 0, and "1"
 * is not 1.
 */
function keyOf(given: unknown[]): string {
  const written = (value: number) => `\0${Object.is(value, -0) ? "-0" : value}`;
  return JSON.stringify(given, (_, value: unknown) => (typeof value === "number" ? written(value) : value));
}

type Tasks = Record<string, (...given: never[]) => unknown>;

/** The tasks with `mesonet.wasm`. */
function mesonetTasks({ decodeTile, resample, tileColours }: Mesonet): Tasks {
  const coloursOf = kept(tileColours, (colours) => colours.free());
  return {
    decodeTile,
    resample,
    paintTile: (tile: Uint8Array, encoding: Encoding, stops: ColourStop[]) => coloursOf(encoding, stops).paint(tile),
  };
}

/** The tasks with `grids.wasm`. */
function gridTasks({ nativeGrid }: GridFunctions): Tasks {
  const gridOf = kept(nativeGrid, () => {});
  return {
    locate: (grid: GridDefinition, at: Position<Float64Array>) => gridOf(grid).locate(at),
    positions: (grid: GridDefinition) => gridOf(grid).positions(),
    windRotations: (grid: GridDefinition) => gridOf(grid).windRotations(),
  };
}

let tasks: Tasks = {};

async function run({ name, args, modules }: Order): Promise<unknown> {
  try {
    if (modules?.mesonet) {
      tasks = { ...tasks, ...mesonetTasks(await load(modules.mesonet)) };
    }
    if (modules?.grids) {
      tasks = { ...tasks, ...gridTasks(await loadGrids(modules.grids)) };
    }
  } catch (cause) {
    throw new Error(`the WebAssembly cannot be used: ${String(cause)}`, { cause });
  }
  return tasks[name]!(...(args as never[]));
}

/** The buffers of an answer. The answer is an array or an object of arrays. */
function buffersOf(value: unknown): ArrayBuffer[] {
  const parts = ArrayBuffer.isView(value) ? [value] : Object.values(value as object);
  return parts.filter((part) => ArrayBuffer.isView(part)).map(({ buffer }) => buffer as ArrayBuffer);
}

/** The other side: that of a web worker, or of a thread of Node. */
interface Port {
  postMessage(message: Answer, transfer: ArrayBuffer[]): void;
}

async function answer(port: Port, order: Order): Promise<void> {
  try {
    const value = await run(order);
    port.postMessage({ value }, buffersOf(value));
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
    port.postMessage({ error: { name, message } }, []);
  }
}

interface Thread extends Port {
  on(event: "message", heard: (order: Order) => void): void;
}
interface NodeProcess {
  getBuiltinModule(name: "node:worker_threads"): { parentPort: Thread };
}

const scope = globalThis as unknown as Port & {
  process?: NodeProcess;
  onmessage: (event: { data: Order }) => void;
};
if (typeof scope.postMessage === "function") {
  scope.onmessage = ({ data }) => void answer(scope, data);
} else {
  const { parentPort } = scope.process!.getBuiltinModule("node:worker_threads");
  parentPort.on("message", (order) => void answer(parentPort, order));
}
