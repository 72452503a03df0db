// Compiled, not run: the layers of maps with the types of the libraries themselves.
import * as L from "leaflet";
import * as maplibregl from "maplibre-gl";
import { type Client } from "mesonet/client";
import { type WeatherLayers as OnLeaflet, weatherLayers as onLeaflet } from "mesonet/leaflet";
import { type Field, type Legend, type Weather, colourOf, legend as legendOf, scales, weather } from "mesonet/map";
import { type Layer, type WeatherLayers, weatherLayers } from "mesonet/maplibre";

const source: Weather = weather("http://127.0.0.1", { units: "us", lang: "fr", cacheBytes: 2 ** 20, token: "mesonet_key_" });
declare const service: Client;
declare const glMap: maplibregl.Map;
const layers: WeatherLayers = weatherLayers(maplibregl, glMap, source, { onError: (error) => error.message });
declare const leafletMap: L.Map;
const others: OnLeaflet = onLeaflet(L, leafletMap, service, { units: "si" });
const added: Promise<Layer<{ hour?: number | undefined }, Field>> = layers.addField({ model: "hrrr", product: "temperature_2m", valid: new Date(), opacity: 0.8, beforeId: "labels" });
const hour: Promise<void> = added.then((layer) => layer.set({ hour: 3 }));
const count: Promise<number> = others.addStations({ variable: "mslp", end: new Date(), network: ["METAR"], labels: false }).then(({ shown }) => shown.features.length);
const painted256: Promise<ImageData> = source.field({ model: "hrrr", product: "wind_gust", scale: "wind" }).then(async (field) => new ImageData((await field.tile(0, 0, 0)).pixels, 256));
const key: Legend = legendOf("temperature", { unit: "°F" });
const red: number | undefined = colourOf(scales.wind, 3)?.[0];
export { count, hour, key, painted256, red };

// @ts-expect-error: no such scale
legendOf("warmth");
// @ts-expect-error: the variable is needed
layers.addStations({});
// @ts-expect-error: no such variable
others.addStations({ variable: "temperature" });
// @ts-expect-error: a map of the other library
weatherLayers(maplibregl, leafletMap, source);
