/**
 * Fields of models, stations and alerts on a map of Leaflet. `mesonet/maplibre` has the same names.
 *
 * @example
 * import L from "leaflet";
 * import { weatherLayers } from "mesonet/leaflet";
 * const map = L.map("map").setView([45, -95], 4);
 * const weather = weatherLayers(L, map, "http://127.0.0.1:8080");
 * await weather.addField({ model: "nam211", product: "temperature_2m" });
 * await weather.addAlerts();
 * await weather.addStations({ variable: "airTemperature" });
 */
import type { Client } from "./client.js";
import type { Weather } from "./map.js";
import type { AlertMapFeature, StationFeature } from "./map_features.js";
import type { Field } from "./map_field.js";
import { type Drawn, type LayersOptions, STYLE, type Surface, type WeatherLayers, creditOf, layersOf, weatherOf } from "./map_layers.js";
import { SIDE } from "./map_tiles.js";

export * from "./map.js";
export type { Layer, LayersOptions, Look, WeatherLayers } from "./map_layers.js";

/** A layer of Leaflet. */
interface LeafletLayer {
  addTo(map: never): unknown;
  remove(): unknown;
  on(type: string, heard: (event: never) => void): unknown;
  once(type: string, heard: () => void): unknown;
}
interface LeafletGroup extends LeafletLayer {
  addLayer(layer: LeafletLayer): unknown;
  clearLayers(): unknown;
  setStyle(style: object): unknown;
}
interface Path extends LeafletLayer {
  setStyle(style: object): unknown;
}

/** The part of the library that is used here. */
export interface Leaflet {
  readonly GridLayer: { extend(members: object): new (options: object) => unknown };
  canvas(options: object): unknown;
  featureGroup(): unknown;
  layerGroup(): unknown;
  geoJSON(data: never, options: object): unknown;
  circleMarker(at: never, options: object): unknown;
  marker(at: never, options: object): unknown;
  divIcon(options: object): unknown;
}

/** The part of a map that is used here. */
export interface LeafletMap {
  getBounds(): { getWest(): number; getSouth(): number; getEast(): number; getNorth(): number };
  getZoom(): number;
  latLngToLayerPoint(at: [lat: number, lon: number]): { readonly x: number; readonly y: number };
  on(type: string, heard: () => void): unknown;
  off(type: string, heard: () => void): unknown;
}

interface Coords {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/**
 * The weather of a service on a map.
 *
 * @param library The module `leaflet`, from 1.9 on. @param service Its address, a client or a weather.
 */
export function weatherLayers(
  library: Leaflet,
  map: LeafletMap,
  service: string | URL | Client | Weather,
  options: LayersOptions = {},
): WeatherLayers {
  const { onError: failed = (error: Error) => console.error(error), ...rest } = options;
  const view = (): readonly [number, number, number, number] => {
    const bounds = map.getBounds();
    return [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
  };
  const onMoved = (moved: () => void) => {
    map.on("moveend", moved);
    return () => void map.off("moveend", moved);
  };
  /** The turns of the world that are seen: 0 is that of Greenwich, 1 the one to the east of it. */
  const turns = (): number[] => {
    const [west, , east] = view();
    const [first, last] = [west, east].map((lon) => Math.floor((lon + 180) / 360)) as [number, number];
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  };
  /** Draws features once in each turn that is seen, and anew when others are. */
  const inTurns = <T>(draw: (of: T, group: LeafletGroup, turn: number) => void): Drawn<T> & { group: LeafletGroup } => {
    const group = library.featureGroup() as LeafletGroup;
    group.addTo(map as never);
    let last: T | undefined;
    let drawn = "";
    const show = (of: T) => {
      last = of;
      drawn = turns().join();
      group.clearLayers();
      turns().forEach((turn) => draw(of, group, turn));
    };
    const unfollow = onMoved(() => {
      if (last !== undefined && drawn !== turns().join()) {
        show(last);
      }
    });
    return {
      group,
      show,
      remove() {
        unfollow();
        group.remove();
      },
    };
  };
  const inTurn = (turn: number) => ([lon, lat]: readonly [number, number]) => ({ lat, lng: lon + 360 * turn });

  const surface: Surface = {
    ready: () => Promise.resolve(),
    view,
    onMoved,
    field({ opacity = 1 }) {
      /** The fields that are drawn; the last is the one to see. */
      let all: LeafletLayer[] = [];
      return {
        show(field) {
          const next = fieldLayer(library, field, opacity, failed);
          all.push(next);
          // What was shown stays until all of the new tiles are there: no flash.
          next.once("load", () => {
            const at = Math.max(all.indexOf(next), 0);
            all.slice(0, at).forEach((before) => before.remove());
            all = all.slice(at);
          });
          next.addTo(map as never);
        },
        remove() {
          all.forEach((layer) => layer.remove());
          all = [];
        },
      };
    },
    stations({ opacity = 1, labels = true }) {
      const { station, label } = STYLE;
      const renderer = library.canvas({ padding: 0.3 });
      const radius = () => {
        const [[least, most], [first, last]] = [station.radiusPx, station.zooms];
        const part = Math.min(Math.max((map.getZoom() - first) / (last - first), 0), 1);
        return least + part * (most - least);
      };
      const marker = ({ properties }: StationFeature, at: never) =>
        library.circleMarker(at, {
          ...{ renderer, radius: radius(), color: station.rim, weight: station.rimPx },
          ...{ fillColor: properties.colour ?? station.without, fillOpacity: opacity, opacity },
        });
      const circles = inTurns((stations, group, turn) => {
        const options = { coordsToLatLng: inTurn(turn), pointToLayer: marker };
        group.addLayer(library.geoJSON(stations as never, options) as LeafletLayer);
      });
      const texts = library.layerGroup() as LeafletGroup;
      texts.addTo(map as never);
      let all: readonly StationFeature[] = [];
      const write = () => {
        texts.clearLayers();
        if (!labels || map.getZoom() < label.minZoom) {
          return;
        }
        const taken = new Set<string>();
        const [west, south, east, north] = view();
        for (const turn of turns()) {
          for (const { geometry, properties } of all) {
            const { lat, lng } = inTurn(turn)(geometry.coordinates);
            const isSeen = lat >= south && lat <= north && lng >= west && lng <= east;
            if (isSeen && claimed(taken, map.latLngToLayerPoint([lat, lng]))) {
              texts.addLayer(textAt(library, [lat, lng], properties.label, opacity));
            }
          }
        }
      };
      const unfollow = onMoved(() => {
        circles.group.setStyle({ radius: radius() });
        write();
      });
      return {
        show(stations) {
          circles.show(stations);
          all = stations.features;
          write();
        },
        remove() {
          unfollow();
          circles.remove();
          texts.remove();
        },
      };
    },
    alerts({ opacity = 1 }) {
      const { fill, hovered, linePx } = STYLE.alert;
      const renderer = library.canvas({ padding: 0.3 });
      const style = ({ properties: { colour } }: AlertMapFeature) => ({
        ...{ renderer, color: colour, weight: linePx, opacity, fillColor: colour, fillOpacity: fill * opacity },
      });
      const onEachFeature = (_: unknown, path: Path) => {
        path.on("mouseover", () => path.setStyle({ fillOpacity: hovered * opacity }));
        path.on("mouseout", () => path.setStyle({ fillOpacity: fill * opacity }));
      };
      return inTurns((alerts, group, turn) => {
        const options = { coordsToLatLng: inTurn(turn), style, onEachFeature };
        group.addLayer(library.geoJSON(alerts as never, options) as LeafletLayer);
      });
    },
  };
  return layersOf(weatherOf(service, rest), surface, failed);
}

/** A layer of the tiles of a field. */
function fieldLayer(library: Leaflet, field: Field, opacity: number, failed: (error: Error) => void): LeafletLayer {
  const loading = new WeakMap<HTMLElement, AbortController>();
  const Tiles = library.GridLayer.extend({
    createTile({ x, y, z }: Coords, done: (error: Error | null, tile: HTMLElement) => void) {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = SIDE;
      // Mixed colours would be of no value.
      canvas.style.imageRendering = "pixelated";
      const controller = new AbortController();
      loading.set(canvas, controller);
      field.tile(z, x, y, { signal: controller.signal }).then(
        ({ pixels }) => {
          canvas.getContext("2d")!.putImageData(new ImageData(pixels, SIDE, SIDE), 0, 0);
          done(null, canvas);
        },
        (error: Error) => {
          if (!controller.signal.aborted) {
            failed(error);
            done(error, canvas);
          }
        },
      );
      return canvas;
    },
  });
  const tiles = new Tiles({
    ...{ tileSize: SIDE, maxNativeZoom: field.maxZoom, opacity, attribution: creditOf(field) },
    // Above a base map, below what is drawn in overlays.
    ...{ updateWhenZooming: false, zIndex: 2 },
  }) as LeafletLayer;
  tiles.on("tileunload", ({ tile }: { tile: HTMLElement }) => loading.get(tile)?.abort());
  return tiles;
}

/** Takes the room of a label at a point, if it is free. */
function claimed(taken: Set<string>, { x, y }: { readonly x: number; readonly y: number }): boolean {
  const [column, row] = [Math.floor(x / 36), Math.floor(y / 18)];
  const near = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => `${column + dx}/${row + dy}`));
  const isFree = !near.some((one) => taken.has(one));
  if (isFree) {
    taken.add(`${column}/${row}`);
  }
  return isFree;
}

function textAt(library: Leaflet, at: readonly [number, number], label: string, opacity: number): LeafletLayer {
  const { ink, halo, sizePx } = STYLE.label;
  const text = document.createElement("span");
  text.textContent = label;
  const shadows = [[-1, 0], [1, 0], [0, -1], [0, 1]].map(([x, y]) => `${x}px ${y}px 1px ${halo}`).join();
  text.style.cssText = `position:absolute;left:7px;top:-0.6em;font:600 ${sizePx}px/1.2 system-ui,sans-serif;color:${ink};text-shadow:${shadows};white-space:nowrap`;
  const icon = library.divIcon({ html: text, className: "mesonet-label", iconSize: [0, 0] });
  return library.marker(at as never, { icon, interactive: false, keyboard: false, opacity }) as LeafletLayer;
}
