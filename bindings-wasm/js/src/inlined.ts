// What needs the WebAssembly, which is inlined here and begins when this file is imported. The package
// declares the file free of side effects, so that a bundler leaves it out if none of it is used.
import { base64 } from "./generated/bytes.js";
import * as raw from "./generated/mesonet.js";
import { type Mesonet, mesonet } from "./mesonet.js";

raw.initSync({ module: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) });
const all = mesonet(raw);

/** See {@link Mesonet.decodeTile}. */
export const decodeTile: Mesonet["decodeTile"] = all.decodeTile;
/** See {@link Mesonet.encodeTile}. */
export const encodeTile: Mesonet["encodeTile"] = all.encodeTile;
/** See {@link Mesonet.rotateWind}. */
export const rotateWind: Mesonet["rotateWind"] = all.rotateWind;
/** See {@link Mesonet.convert}. */
export const convert: Mesonet["convert"] = all.convert;
/** See {@link Mesonet.resolveUnit}. */
export const resolveUnit: Mesonet["resolveUnit"] = all.resolveUnit;
/** See {@link Mesonet.toCanonical}. */
export const toCanonical: Mesonet["toCanonical"] = all.toCanonical;
/** See {@link Mesonet.dewPointC}. */
export const dewPointC: Mesonet["dewPointC"] = all.dewPointC;
/** See {@link Mesonet.relativeHumidityPct}. */
export const relativeHumidityPct: Mesonet["relativeHumidityPct"] = all.relativeHumidityPct;
/** See {@link Mesonet.wetBulbC}. */
export const wetBulbC: Mesonet["wetBulbC"] = all.wetBulbC;
/** See {@link Mesonet.stullWetBulbC}. */
export const stullWetBulbC: Mesonet["stullWetBulbC"] = all.stullWetBulbC;
/** See {@link Mesonet.heatIndexC}. */
export const heatIndexC: Mesonet["heatIndexC"] = all.heatIndexC;
/** See {@link Mesonet.heatIndexF}. */
export const heatIndexF: Mesonet["heatIndexF"] = all.heatIndexF;
/** See {@link Mesonet.humidex}. */
export const humidex: Mesonet["humidex"] = all.humidex;
/** See {@link Mesonet.windChillC}. */
export const windChillC: Mesonet["windChillC"] = all.windChillC;
/** See {@link Mesonet.windChillF}. */
export const windChillF: Mesonet["windChillF"] = all.windChillF;
/** See {@link Mesonet.meanSeaLevelPressureHpa}. */
export const meanSeaLevelPressureHpa: Mesonet["meanSeaLevelPressureHpa"] = all.meanSeaLevelPressureHpa;
/** See {@link Mesonet.stationPressureHpa}. */
export const stationPressureHpa: Mesonet["stationPressureHpa"] = all.stationPressureHpa;
/** See {@link Mesonet.windAt10m}. */
export const windAt10m: Mesonet["windAt10m"] = all.windAt10m;
/** See {@link Mesonet.SWOB_QA_SUMMARY}. */
export const SWOB_QA_SUMMARY: Mesonet["SWOB_QA_SUMMARY"] = all.SWOB_QA_SUMMARY;
/** See {@link Mesonet.BUFR_033020}. */
export const BUFR_033020: Mesonet["BUFR_033020"] = all.BUFR_033020;
/** See {@link Mesonet.MADIS}. */
export const MADIS: Mesonet["MADIS"] = all.MADIS;
/** See {@link Mesonet.QARTOD}. */
export const QARTOD: Mesonet["QARTOD"] = all.QARTOD;
/** See {@link Mesonet.ISD}. */
export const ISD: Mesonet["ISD"] = all.ISD;
/** See {@link Mesonet.GHCNH_CHECKS}. */
export const GHCNH_CHECKS: Mesonet["GHCNH_CHECKS"] = all.GHCNH_CHECKS;
/** See {@link Mesonet.colours}. */
export const colours: Mesonet["colours"] = all.colours;
/** See {@link Mesonet.tileColours}. */
export const tileColours: Mesonet["tileColours"] = all.tileColours;
/** See {@link Mesonet.tileRoom}. */
export const tileRoom: Mesonet["tileRoom"] = all.tileRoom;
/** See {@link Mesonet.planGrid}. */
export const planGrid: Mesonet["planGrid"] = all.planGrid;
/** See {@link Mesonet.resample}. */
export const resample: Mesonet["resample"] = all.resample;
/** See {@link Mesonet.seriesTable}. */
export const seriesTable: Mesonet["seriesTable"] = all.seriesTable;
/** See {@link Mesonet.pickSeries}. */
export const pickSeries: Mesonet["pickSeries"] = all.pickSeries;
/** See {@link Mesonet.checkLookback}. */
export const checkLookback: Mesonet["checkLookback"] = all.checkLookback;
/** See {@link Mesonet.capabilities}. */
export const capabilities: Mesonet["capabilities"] = all.capabilities;
