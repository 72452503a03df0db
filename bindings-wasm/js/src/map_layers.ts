// The layers of a map, whatever its library: what they show, when they load it anew, and their end.
import { refuseOptions } from "./check.js";
import type { Client } from "./client.js";
import type { Field, FieldOptions } from "./map_field.js";
import type { AlertCollection, AlertOptions, StationCollection, StationOptions } from "./map_features.js";
import { type Weather, type WeatherOptions, weather } from "./map.js";
import { type Box, viewLoader } from "./map_view.js";

/** How layers are shown. */
export interface LayersOptions extends WeatherOptions {
  /**
   * Hears of what fails after a layer was added: a load after a move, a tile. By default it is written to the
   * console; the map library tells of tiles in its own events too.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** How one layer is drawn. */
export interface Look {
  /** From 0 to 1; by default 1 for fields and stations. Below 1, colours are not those of the legend. */
  readonly opacity?: number | undefined;
  /**
   * Whether the layer follows what changes on the server: new readings of stations, alerts, and runs of a field
   * that has no fixed one. It is then loaded anew, at most every five seconds. By default it does not.
   */
  readonly live?: boolean | undefined;
  /** Whether stations have their values as text; by default they have. */
  readonly labels?: boolean | undefined;
  /** MapLibre GL: the id of the layer of the style below which it is drawn; by default on top. */
  readonly beforeId?: string | undefined;
}

/** A layer on a map. */
export interface Layer<Options, Shown> {
  /** What it shows: a field, stations or alerts. */
  readonly shown: Shown;
  /**
   * Changes some options, such as the hour. Until what is new has come, the layer stays as it is; if that fails,
   * it stays so, and the promise rejects. Of several changes at once only the last is shown, and all promises end with it.
   */
  set(changes: Partial<Options>): Promise<void>;
  /** Loads anew what it shows. */
  refresh(): Promise<void>;
  /** Takes it off the map. */
  remove(): void;
}

/** The weather on a map. Each promise rejects with the sentence of the server if the layer cannot be had. */
export interface WeatherLayers {
  /** The weather without a map, for values and requests of your own. */
  readonly source: Weather;
  /** Adds a field of a model. */
  addField(options: FieldOptions & Look): Promise<Layer<FieldOptions, Field>>;
  /** Adds the stations of what the map shows, also after it moves. */
  addStations(options: StationOptions & Look): Promise<Layer<StationOptions, StationCollection>>;
  /** Adds alerts; by default those in force. */
  addAlerts(options?: AlertOptions & Look): Promise<Layer<AlertOptions, AlertCollection>>;
  /** Removes all layers, and ends what is loading. */
  remove(): void;
}

/** What is drawn of a layer. */
export interface Drawn<T> {
  /** Draws in place of what was drawn before. */
  show(of: T): void;
  /** Takes it off the map. */
  remove(): void;
}

/** What a map library draws. */
export interface Surface {
  /** Resolves when layers can be added. */
  ready(): Promise<void>;
  /** What is seen. Longitudes may be of any turn of the world. */
  view(): Box;
  /** Calls after each move; returns what ends that. */
  onMoved(moved: () => void): () => void;
  field(look: Look): Drawn<Field>;
  stations(look: Look): Drawn<StationCollection>;
  alerts(look: Look): Drawn<AlertCollection>;
}

/** The weather that is given, or that of a service. */
export function weatherOf(service: string | URL | Client | Weather, options: WeatherOptions): Weather {
  if (typeof service === "object" && "field" in service) {
    refuseOptions(options, "weather");
    return service;
  }
  return weather(service, options);
}

/** The layers that a surface draws. */
export function layersOf(source: Weather, surface: Surface, failed: (error: Error) => void): WeatherLayers {
  const removals = new Set<() => void>();

  async function add<O extends object, T>(
    options: O & Look,
    draw: (look: Look) => Drawn<T>,
    load: (options: O, box: Box, signal: AbortSignal) => Promise<T>,
    topic: "readings" | "alerts" | "runs",
  ): Promise<Layer<O, T>> {
    const { opacity, labels, live = false, beforeId, ...first } = options;
    let given = first as unknown as O;
    let shown: T | undefined;
    const ended = new AbortController();
    const told = (error: Error) => {
      if (!ended.signal.aborted) {
        failed(error);
      }
    };
    let drawn: Drawn<T> | undefined;
    const loader = viewLoader(
      async (box, signal) => {
        ended.signal.throwIfAborted();
        return load(given, box, signal);
      },
      (loaded: T) => {
        shown = loaded;
        drawn!.show(loaded);
      },
    );
    const moved = () => void loader.look(surface.view()).catch(told);
    let unfollow = () => {};
    const remove = () => {
      if (!ended.signal.aborted) {
        ended.abort();
        removals.delete(remove);
        unfollow();
        loader.stop();
        drawn?.remove();
      }
    };
    removals.add(remove);
    await surface.ready();
    ended.signal.throwIfAborted();
    drawn = draw({ opacity, labels, beforeId });
    unfollow = topic === "readings" ? surface.onMoved(moved) : unfollow;
    try {
      await loader.look(surface.view());
    } catch (error) {
      remove();
      throw error;
    }
    if (live) {
      void follow(source.service, topic, () => loader.again().catch(told), ended.signal).catch(told);
    }
    return {
      get shown() {
        return shown!;
      },
      async set(changes) {
        const before = given;
        const after = (given = { ...given, ...changes });
        try {
          await loader.again();
        } catch (error) {
          given = given === after ? before : given;
          throw error;
        }
      },
      refresh: () => loader.again(),
      remove,
    };
  }

  return Object.freeze<WeatherLayers>({
    source,
    addField: (options) =>
      add<FieldOptions, Field>(options, surface.field, (given, _, signal) => source.field(given, { signal }), "runs"),
    addStations: (options) =>
      add<StationOptions, StationCollection>(
        options,
        surface.stations,
        (given, box, signal) => source.stations(given, { box, signal }),
        "readings",
      ),
    addAlerts: (options = {}) =>
      add<AlertOptions, AlertCollection>(options, surface.alerts, (given, _, signal) => source.alerts(given, { signal }), "alerts"),
    remove: () => [...removals].forEach((remove) => remove()),
  });
}

/** How long events are gathered before what they are of is loaded anew. */
const GATHERED_MS = 5_000;

/** Loads anew after what the service tells of a topic, or cannot tell, until the signal. */
async function follow(service: Client, topic: "readings" | "alerts" | "runs", load: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let loadedMs = -Infinity;
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  for await (const _ of service.live({ topics: [topic] }, { signal })) {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        loadedMs = performance.now();
        void load();
      },
      Math.max(loadedMs + GATHERED_MS - performance.now(), 200),
    );
  }
}

/** A credit as map libraries take it, which is HTML. */
export const creditOf = ({ attribution }: Field): string => attribution.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The looks that both libraries give stations and alerts. */
export const STYLE = {
  /** The radius grows from the first zoom to the second. */
  station: { radiusPx: [2.5, 6], zooms: [3, 8], without: "#9aa0a6", rim: "#1b1f24", rimPx: 0.8 },
  label: { sizePx: 12, ink: "#14181d", halo: "#ffffff", minZoom: 5 },
  alert: { fill: 0.25, hovered: 0.45, linePx: 1.6 },
} as const;
