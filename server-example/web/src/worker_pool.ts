// Hands tasks to the worker and gives back what it made of them.
import type { Columns, Verdicts } from "./station/columns";
import type { GridTask, PaintedTile, RasterTask, Task, TileTask, VerdictTask } from "./worker";

let worker: Worker | undefined;
let last = 0;
const open = new Map<number, { resolve: (value: never) => void; reject: (reason: Error) => void }>();

export function inWorker(task: GridTask): Promise<Columns>;
export function inWorker(task: VerdictTask): Promise<Verdicts>;
export function inWorker(task: TileTask): Promise<PaintedTile>;
export function inWorker(task: RasterTask): Promise<Int16Array<ArrayBuffer>>;
export function inWorker(task: Task): Promise<unknown> {
  worker ??= started();
  const id = (last += 1);
  return new Promise((resolve, reject) => {
    open.set(id, { resolve, reject });
    worker?.postMessage({ id, task }, [task.body]);
  });
}

function started(): Worker {
  const made = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  made.onmessage = ({ data }: MessageEvent<{ id: number; result?: never; error?: string }>) => {
    const { resolve, reject } = open.get(data.id) ?? {};
    open.delete(data.id);
    if (data.error === undefined) resolve?.(data.result as never);
    else reject?.(new Error(data.error));
  };
  return made;
}

/** Starts the worker ahead of its first task. */
export function warmUp(): void {
  worker ??= started();
}
