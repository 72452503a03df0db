// The box of what a map shows, and loads of which only the latest counts.

/** West, south, east and north in degrees; west is greater than east across the antimeridian. */
export type Box = readonly [west: number, south: number, east: number, north: number];

/** The part of a view that is asked for beyond each of its sides, so that a short move needs no request. */
const MARGIN = 0.25;

/** A view with a margin. Its longitudes may be of any turn of the world, and it may be wider than the world. */
function withMargin([west, south, east, north]: Box): Box {
  const [width, height] = [(east - west) * MARGIN, (north - south) * MARGIN];
  return [west - width, Math.max(south - height, -90), east + width, Math.min(north + height, 90)];
}

/** The box of a view as the service takes it. */
export function boxOf([west, south, east, north]: Box): Box {
  if (east - west >= 360) {
    return [-180, south, 180, north];
  }
  const wrapped = (lon: number) => ((((lon + 180) % 360) + 360) % 360) - 180;
  return [wrapped(west), south, wrapped(east), north];
}

const covers = (box: Box, [west, south, east, north]: Box): boolean =>
  box[0] <= west && box[1] <= south && box[2] >= east && box[3] >= north;

/** Loads what is seen, as often as needed. A load that a later one replaces ends as that one does. */
export interface ViewLoader {
  /** Loads what a view shows, unless it is there. */
  look(view: Box): Promise<void>;
  /** Loads the last view again. */
  again(): Promise<void>;
  /** Ends what is loading: it rejects with an AbortError. */
  stop(): void;
}

/** Loads by `load`, and passes the latest answer to `show`. */
export function viewLoader<T>(load: (box: Box, signal: AbortSignal) => Promise<T>, show: (loaded: T) => void): ViewLoader {
  let wanted: Box | undefined;
  let seen: Box | undefined;
  let running = new AbortController();
  let latest: Promise<void> | undefined;
  const run = async (view: Box, { signal }: AbortController): Promise<void> => {
    const box = (wanted = withMargin(view));
    try {
      const loaded = await load(boxOf(box), signal);
      signal.throwIfAborted();
      show(loaded);
    } catch (error) {
      if (running.signal !== signal) {
        return latest;
      }
      wanted = undefined;
      throw error;
    }
  };
  const start = (view: Box): Promise<void> => {
    running.abort();
    running = new AbortController();
    return (latest = run(view, running));
  };
  return {
    async look(view) {
      seen = view;
      await (wanted !== undefined && covers(wanted, view) ? latest : start(view));
    },
    async again() {
      if (seen !== undefined) {
        await start(seen);
      }
    },
    stop: () => running.abort(),
  };
}
