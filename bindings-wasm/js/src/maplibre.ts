/**
 * Fields of models, stations and alerts on a map of MapLibre GL. `mesonet/leaflet` has the same names.
 *
 * @example
 * import * as maplibregl from "maplibre-gl";
 * import { weatherLayers } from "mesonet/maplibre";
 * const map = new maplibregl.Map({ container: "map", style, center: [-95, 45], zoom: 3 });
 * const weather = weatherLayers(maplibregl, map, "http://127.0.0.1:8080");
 * await weather.addField({ model: "nam211", product: "temperature_2m" });
 * await weather.addAlerts();
 * await weather.addStations({ variable: "airTemperature" });
 */
import type { Client } from "./client.js";
import { MesonetError } from "./error.js";
import type { Weather, WeatherOptions } from "./map.js";
import type { Field } from "./map_field.js";
import { type Drawn, type LayersOptions, type Look, STYLE, type Surface, type WeatherLayers, creditOf, layersOf, weatherOf } from "./map_layers.js";
import { SIDE } from "./map_tiles.js";

export * from "./map.js";
export type { Layer, LayersOptions, Look, WeatherLayers } from "./map_layers.js";

/** The part of the library that is used here. */
export interface MapLibre {
  getVersion(): string;
  addProtocol(
    name: string,
    load: (request: { url: string }, controller: AbortController) => Promise<{ data: ImageBitmap }>,
  ): void;
}

/** The part of a map that is used here. */
export interface MapLibreMap {
  addSource(id: string, source: never): unknown;
  addLayer(layer: never, beforeId?: string): unknown;
  getSource(id: string): unknown;
  getLayer(id: string): unknown;
  removeLayer(id: string): unknown;
  removeSource(id: string): unknown;
  getStyle(): {
    readonly layers: readonly { readonly id: string; readonly layout?: object | undefined }[];
    readonly glyphs?: string | undefined;
  };
  getBounds(): { getWest(): number; getSouth(): number; getEast(): number; getNorth(): number };
  isSourceLoaded(id: string): boolean;
  setFeatureState(feature: { source: string; id: string }, state: { hover: boolean }): unknown;
  on(...given: never[]): unknown;
  off(...given: never[]): unknown;
}

/** A layer of a source of features. */
interface FeatureLayer {
  readonly id: string;
  readonly type: string;
  readonly layout?: object;
}

/** A tile as the library takes it. */
async function imageOf(field: Field, [z, x, y]: readonly (string | undefined)[], signal: AbortSignal): Promise<{ data: ImageBitmap }> {
  const { pixels } = await field.tile(Number(z), Number(x), Number(y), { signal });
  return { data: await createImageBitmap(new ImageData(pixels, SIDE, SIDE), { colorSpaceConversion: "none" }) };
}

/** Parameters of the addresses of tiles, and what they are. */
const PARAMETERS = { run: String, hour: Number, valid: String, level_hpa: Number, member: Number, scale: String };

/**
 * Lets a style name tiles of fields by itself: `weather://nam211/temperature_2m/{z}/{x}/{y}?scale=temperature`, with a
 * tile size of 256. The parameters are those of {@link FieldOptions}; a scale is given by its name.
 *
 * @param service Its address, a client or a weather. @param options `name` is that of the protocol, by default `weather`.
 */
export function addWeatherProtocol(
  library: Pick<MapLibre, "addProtocol">,
  service: string | URL | Client | Weather,
  { name = "weather", ...options }: WeatherOptions & { readonly name?: string | undefined } = {},
): void {
  const source = weatherOf(service, options);
  const fields = new Map<string, Promise<Field>>();
  library.addProtocol(name, async ({ url }, { signal }) => {
    const [path = "", query = ""] = url.slice(`${name}://`.length).split("?");
    const [model, product, ...tile] = path.split("/").map(decodeURIComponent);
    const key = `${model}/${product}?${query}`;
    const parameters = [...new URLSearchParams(query)].map(([parameter, value]) => {
      if (!Object.hasOwn(PARAMETERS, parameter)) {
        throw new MesonetError(`${url}: ${JSON.stringify(parameter)} is not a parameter; allowed are ${Object.keys(PARAMETERS).join(", ")}`);
      }
      return [parameter, PARAMETERS[parameter as keyof typeof PARAMETERS](value)] as const;
    });
    const field = fields.get(key) ?? source.field({ ...Object.fromEntries(parameters), model: model!, product: product! });
    fields.set(key, field);
    field.catch(() => fields.delete(key));
    return imageOf(await field, tile, signal);
  });
}

/** The protocol of the tiles of layers. */
const PROTOCOL = "mesonet";
/** The fields on maps, by the first part of the addresses of their tiles. */
const fields = new Map<string, { readonly field: Field; readonly failed: (error: Error) => void }>();
const served = new WeakSet<object>();
let count = 0;

/** Serves the tiles of layers to a library. */
function serve(library: MapLibre): void {
  if (served.has(library)) {
    return;
  }
  served.add(library);
  library.addProtocol(PROTOCOL, async ({ url }, { signal }) => {
    const [id, ...tile] = url.slice(`${PROTOCOL}://`.length).split("/");
    const of = fields.get(id!);
    if (of === undefined) {
      throw new Error(`${url}: the layer was removed`);
    }
    try {
      return await imageOf(of.field, tile, signal);
    } catch (error) {
      if (!signal.aborted) {
        of.failed(error as Error);
      }
      throw error;
    }
  });
}

/**
 * The weather of a service on a map: layers are added to it as soon as its style has loaded, and again if the
 * style is replaced.
 *
 * @param library The module `maplibre-gl`, from 4 on. @param service Its address, a client or a weather.
 */
export function weatherLayers(
  library: MapLibre,
  map: MapLibreMap,
  service: string | URL | Client | Weather,
  options: LayersOptions = {},
): WeatherLayers {
  const { onError: failed = (error: Error) => console.error(error), ...rest } = options;
  serve(library);
  const on = map.on.bind(map) as unknown as (...given: unknown[]) => void;
  const off = map.off.bind(map) as unknown as (...given: unknown[]) => void;
  /** Removes a source and its layers, as far as they are there: the style may be another one, or not loaded. */
  const drop = (source: string, layers: readonly string[]) => {
    if (map.getSource(source) !== undefined) {
      layers.filter((layer) => map.getLayer(layer) !== undefined).forEach((layer) => map.removeLayer(layer));
      map.removeSource(source);
    }
  };
  /** Draws now, and anew when a style has replaced what was drawn. `source` names what is drawn. */
  const drawn = <T>(source: () => string, put: (of: T) => void, clear: () => void): Drawn<T> => {
    let last: T | undefined;
    const again = () => {
      if (last !== undefined && map.getSource(source()) === undefined && map.getStyle() !== undefined) {
        put(last);
      }
    };
    // The one comes with a new style, the other alone if a style became another by its differences.
    const events = ["style.load", "styledata"];
    events.forEach((event) => on(event, again));
    return {
      show(of) {
        last = of;
        put(of);
      },
      remove() {
        events.forEach((event) => off(event, again));
        if (map.getStyle() !== undefined) {
          clear();
        }
      },
    };
  };
  /** The layers that the style can have: text in the font that it uses, if it has any. */
  const possible = (layers: readonly FeatureLayer[]): readonly FeatureLayer[] => {
    const style = map.getStyle();
    // Since 6 a style without glyphs has the fonts of the machine.
    const hasText = style.glyphs !== undefined || Number.parseInt(library.getVersion(), 10) >= 6;
    const fonts = style.layers.map(({ layout }) => (layout as Record<string, unknown> | undefined)?.["text-font"]);
    const font = fonts.find((one) => Array.isArray(one) && one[0] !== "literal" && one.every((name) => typeof name === "string"));
    return layers
      .filter(({ type }) => type !== "symbol" || hasText)
      .map((layer) => (layer.type === "symbol" && font ? { ...layer, layout: { ...layer.layout, "text-font": font } } : layer));
  };
  /** Keeps features in a source, under layers. */
  const features = <T>(id: string, layers: readonly FeatureLayer[], { beforeId }: Look): Drawn<T> =>
    drawn(
      () => id,
      (data: T) => {
        const source = map.getSource(id) as { setData(data: unknown): void } | undefined;
        if (source !== undefined) {
          source.setData(data);
          return;
        }
        map.addSource(id, { type: "geojson", data, promoteId: "id" } as never);
        possible(layers).forEach((layer) => map.addLayer(layer as never, beforeId));
      },
      () => drop(id, layers.map((layer) => layer.id)),
    );

  const surface: Surface = {
    ready: () =>
      map.getStyle() === undefined
        ? new Promise((resolve) => {
            const loaded = () => {
              off("style.load", loaded);
              resolve();
            };
            on("style.load", loaded);
          })
        : Promise.resolve(),
    view() {
      const bounds = map.getBounds();
      return [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
    },
    onMoved(moved) {
      on("moveend", moved);
      return () => off("moveend", moved);
    },
    field({ opacity = 1, beforeId }) {
      /** The fields that are drawn, by their sources; the last is the one to see. */
      let ids: string[] = [];
      const dropAll = (gone: readonly string[]) => {
        for (const id of gone) {
          drop(id, [id]);
          fields.delete(id);
        }
      };
      const put = (of: Field) => {
        const before = ids;
        const id = `mesonet-field-${(count += 1)}`;
        fields.set(id, { field: of, failed });
        const [tiles, [west, , east]] = [[`${PROTOCOL}://${id}/{z}/{x}/{y}`], of.bounds];
        const bounds = west < east ? { bounds: of.bounds } : {};
        const source = { type: "raster", tiles, tileSize: SIDE, maxzoom: of.maxZoom, attribution: creditOf(of), ...bounds };
        map.addSource(id, source as never);
        // Mixed colours would be of no value, and a fading one not of the legend.
        const paint = { "raster-opacity": opacity, "raster-resampling": "nearest", "raster-fade-duration": 0 };
        const order = map.getStyle().layers.map((layer) => layer.id);
        const above = order[order.indexOf(before.at(-1) ?? "") + 1];
        const isMoved = before.some((one) => order.includes(one));
        map.addLayer({ id, type: "raster", source: id, paint } as never, isMoved ? above : beforeId);
        ids = [...before, id];
        // What was shown stays until all of the new tiles are there: no flash.
        const loads = ["sourcedata", "idle"];
        const swap = () => {
          if (!ids.includes(id) || map.getSource(id) === undefined || map.isSourceLoaded(id)) {
            loads.forEach((event) => off(event, swap));
            const at = ids.indexOf(id);
            dropAll(ids.slice(0, Math.max(at, 0)));
            ids = ids.slice(Math.max(at, 0));
          }
        };
        loads.forEach((event) => on(event, swap));
      };
      const field = drawn(() => ids.at(-1) ?? "", put, () => dropAll(ids));
      return {
        show: field.show,
        remove() {
          field.remove();
          ids.forEach((id) => fields.delete(id));
          ids = [];
        },
      };
    },
    stations(look) {
      const id = `mesonet-stations-${(count += 1)}`;
      const { opacity = 1, labels = true } = look;
      const { station, label } = STYLE;
      const circles = {
        id,
        type: "circle",
        source: id,
        paint: {
          // The zooms of this library are of tiles of 512 pixels.
          "circle-radius": ["interpolate", ["linear"], ["zoom"], ...station.zooms.flatMap((zoom, at) => [zoom - 1, station.radiusPx[at]])],
          "circle-color": ["coalesce", ["get", "colour"], station.without],
          "circle-stroke-color": station.rim,
          "circle-stroke-width": station.rimPx,
          "circle-opacity": opacity,
          "circle-stroke-opacity": opacity,
        },
      };
      const texts = {
        id: `${id}-labels`,
        type: "symbol",
        source: id,
        minzoom: label.minZoom - 1,
        layout: {
          "text-field": ["get", "label"],
          "text-size": label.sizePx,
          "text-anchor": "left",
          "text-offset": [0.6, 0],
        },
        paint: { "text-color": label.ink, "text-halo-color": label.halo, "text-halo-width": 1.5, "text-opacity": opacity },
      };
      return features(id, labels ? [circles, texts] : [circles], look);
    },
    alerts(look) {
      const id = `mesonet-alerts-${(count += 1)}`;
      const { fill, hovered, linePx } = STYLE.alert;
      const opacity = look.opacity ?? 1;
      const isHovered = ["boolean", ["feature-state", "hover"], false];
      const areas = {
        id,
        type: "fill",
        source: id,
        layout: { "fill-sort-key": ["get", "rank"] },
        paint: {
          "fill-color": ["get", "colour"],
          "fill-opacity": ["case", isHovered, hovered * opacity, fill * opacity],
        },
      };
      const outlines = {
        id: `${id}-outlines`,
        type: "line",
        source: id,
        layout: { "line-sort-key": ["get", "rank"] },
        paint: { "line-color": ["get", "colour"], "line-width": linePx, "line-opacity": opacity },
      };
      let under: string | undefined;
      const hover = (next: string | undefined) => {
        if (next === under) {
          return;
        }
        const all: readonly [string | undefined, boolean][] = [[under, false], [next, true]];
        for (const [feature, isOn] of all) {
          if (feature !== undefined && map.getSource(id) !== undefined) {
            map.setFeatureState({ source: id, id: feature }, { hover: isOn });
          }
        }
        under = next;
      };
      const moved = (event: { features?: readonly { id?: unknown }[] }) => hover(event.features?.[0]?.id as string | undefined);
      const left = () => hover(undefined);
      on("mousemove", id, moved);
      on("mouseleave", id, left);
      const alerts = features<unknown>(id, [areas, outlines], look);
      return {
        show: alerts.show,
        remove() {
          off("mousemove", id, moved);
          off("mouseleave", id, left);
          alerts.remove();
        },
      };
    },
  };
  return layersOf(weatherOf(service, rest), surface, failed);
}
