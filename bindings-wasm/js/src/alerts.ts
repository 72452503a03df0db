/**
 * Official alerts: files of the Common Alerting Protocol and of api.weather.gov, as typed messages
 * in all of their languages, with the state of each message at a time. A module of its own.
 *
 * @example
 * import { load } from "mesonet/alerts";
 * const { readCap } = await load();
 */
import { type AlertFunctions, alertFunctions } from "./alert.js";
import init, * as raw from "./generated/alerts.js";
import { type Source, once } from "./load.js";

export type {
  AlertConditions,
  AlertFile,
  AlertFunctions,
  AlertMessage,
  AlertMessageArea,
  AlertMessageStorm,
  AlertPart,
  AlertReadOptions,
  AlertSource,
  AlertState,
  AlertText,
  AlertTime,
  Alerts,
} from "./alert.js";
export { MesonetError } from "./error.js";
export type {
  Alert,
  AlertArea,
  AlertCertainty,
  Alerts as AlertCollection,
  AlertColour,
  AlertConfidence,
  AlertFeature,
  AlertImpact,
  AlertSeverity,
  AlertStatus,
  AlertStorm,
  AlertType,
  AlertUrgency,
  AreaKind,
  Geometry,
  MessageType,
  ThreatStatus,
} from "./generated/api.js";
export type { Source } from "./load.js";
export type { Resident } from "./resident.js";

const loaded = /* @__PURE__ */ once(async (source): Promise<AlertFunctions> => {
  await init({ module_or_path: source });
  return alertFunctions(raw);
});

/**
 * Loads the module once, however often it is called. A failed load is repeated at the next call.
 *
 * @param source By default `alerts.wasm` beside this file.
 */
export function load(
  source: Source | Promise<Response> = new URL("./alerts.wasm", import.meta.url),
): Promise<AlertFunctions> {
  return loaded(source);
}
