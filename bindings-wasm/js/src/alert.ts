import { array, attached, className, flag, isClass, milliseconds, number, object, text } from "./check.js";
import { encoded, unicode } from "./encoding.js";
import { MesonetError, refusing } from "./error.js";
import type {
  AlertCertainty,
  AlertColour,
  AlertConfidence,
  AlertImpact,
  AlertSeverity,
  AlertStatus,
  AlertType,
  AlertUrgency,
  Alerts as AlertCollection,
  AreaKind,
  Geometry,
  MessageType,
  ThreatStatus,
} from "./generated/api.js";
import { type Resident, resident } from "./resident.js";

/** The flat module with the alerts. */
export type Raw = typeof import("./generated/alerts.js");

/** The content of a file: its bytes, or its text. */
export type AlertSource = string | Uint8Array | ArrayBuffer;

/**
 * One message, in all of its languages. Absent values are null; times are milliseconds since 1970.
 */
export interface AlertMessage {
  /** Identifier, the same wherever the message is published. */
  id: string;
  /** The sender, as the message gives it. */
  sender: string;
  sentMs: number;
  /** Its role in its chain. */
  messageType: MessageType;
  /** Identifiers of the messages that it refers to, in the order of the message. */
  references: string[];
  /** What it says. A message may say different things about different areas. */
  parts: AlertPart[];
}

/** What a message says about some of its areas, the same in each of its languages. */
export interface AlertPart {
  /** One for each language; never empty. */
  texts: AlertText[];
  /** When it takes effect. */
  effectiveMs: number | null;
  /** When the event begins. */
  onsetMs: number | null;
  /** When the message expires. */
  expiresMs: number | null;
  /** When the event itself ends. */
  eventEndMs: number | null;
  alertType: AlertType;
  /** The colour that ECCC gives; other issuers give none, and none is made up. */
  colour: AlertColour;
  impact: AlertImpact;
  confidence: AlertConfidence;
  severity: AlertSeverity | null;
  urgency: AlertUrgency | null;
  certainty: AlertCertainty | null;
  /** Codes of the event by the name of their list: `SAME` and `["TOR"]`. */
  eventCodes: Record<string, string[]>;
  /** Codes of the places for Specific Area Message Encoding, six digits. */
  sameCodes: string[];
  /** Rank of the risk, 1 the highest (ECCC). */
  riskRanking: number | null;
  /** Code of the issuer's list of areas (ECCC). */
  designationCode: string | null;
  /** What the message itself says about the state of the alert in these areas. */
  outcome: "InForce" | "Replaced" | "Cancelled" | "Ended";
  /** What the message does to events, as Valid Time Event Codes (VTEC). */
  vtec: string[];
  storm: AlertMessageStorm | null;
  areas: AlertMessageArea[];
}

/** The text of a part in one language. Headline, description and issuer are empty if absent. */
export interface AlertText {
  /** Language tag: `en-CA`. */
  language: string;
  issuer: string;
  event: string | null;
  headline: string;
  description: string;
  /** What to do. */
  instruction: string | null;
  /** Address of a page about the alert, `http` or `https`. */
  web: string | null;
  /** The region, in words (ECCC). */
  coverage: string | null;
  /** Where the storm is, in words. */
  stormPosition: string | null;
  /** How it moves, in words. */
  stormMotion: string | null;
  /** Places near it. */
  stormPlaces: string[];
  /** Description of each area, in the order of the areas. */
  areas: string[];
}

/** A storm, as far as a message describes it with numbers. */
export interface AlertMessageStorm {
  timeMs: number | null;
  speedKmh: number | null;
  /** The direction it moves towards, degrees clockwise from north. */
  directionDeg: number | null;
  /** Its form, as the message gives it: `LINE`. */
  geometryType: string | null;
  /** Where it was, as longitude and latitude. */
  points: [lon: number, lat: number][];
}

/** An area of a message. */
export interface AlertMessageArea {
  kind: AreaKind;
  /** What the message does to the area, if it is a threat area. */
  threatStatus: ThreatStatus;
  /** Its zone: a code of Canada's locations (CLC), or of the weather service of the United States (UGC). */
  code: string | null;
  /** Whether it is a fire weather zone: these share codes with forecast zones. */
  isFireZone: boolean;
  /** The outline that the message itself draws, as GeoJSON. */
  geometry: Geometry | null;
}

/** The state of a message at a time. */
export interface AlertState {
  /** Identifier of the message. */
  id: string;
  messageType: MessageType;
  /** `Unknown` if it was sent after that time. */
  status: AlertStatus;
  /** Milliseconds since 1970. */
  sentMs: number;
  /** The messages that it refers to. */
  previousIds: string[];
  /** The messages that follow it, in the order they were sent. */
  nextIds: string[];
  /** The state of each area, part after part, in the order of the message. */
  areas: AlertStatus[];
}

/** How a file was read. */
export interface AlertFile {
  /** Messages that were read. */
  read: number;
  /** Messages that were left out. */
  refused: number;
  /** Where the first of the messages left out are, and why they were left out. */
  refusals: string[];
  /** How many times a value could not be read and is absent, by the name of the value. */
  unreadValues: Record<string, number>;
}

/** A time; milliseconds since 1970. */
export interface AlertTime {
  /**
   * Messages that were sent after it do not count. The default is the present, and then all
   * messages count.
   */
  readonly atMs?: number | undefined;
}

/** Conditions on alerts. An alert must meet all conditions that are given. */
export interface AlertConditions extends AlertTime {
  /** Only alerts in force. By default all. */
  readonly active?: boolean | undefined;
  /** Only alerts with an area in the box. */
  readonly bbox?: readonly [west: number, south: number, east: number, north: number] | undefined;
  /** Only alerts with an area that contains the place. */
  readonly place?: { readonly lon: number; readonly lat: number } | undefined;
  /**
   * Language of the texts, by default `en`. If a message lacks the language, its first language is
   * used.
   */
  readonly language?: "en" | "fr" | (string & {}) | undefined;
}

/**
 * The messages of files, each identifier once, kept in the memory of WebAssembly.
 *
 * The state of a message at a time depends on all messages. An update supersedes the messages that
 * it refers to, or that it continues by its VTEC code. A cancellation withdraws them. An alert is
 * over at the end that it states.
 */
export interface Alerts extends Resident {
  /** How each file was read, in the order given. */
  readonly files: readonly AlertFile[];
  /** The messages, in the order they were sent. */
  messages(): AlertMessage[];
  /** The state of each message, in the order they were sent. */
  states(options?: AlertTime): AlertState[];
  /**
   * The alerts as the service sends them, latest first. The geometry is the outline that the
   * message draws, or else its zones, if they were given; it may be null. `missingZones` lists
   * zones whose outlines are not known.
   *
   * @throws {MesonetError} for a box or a place that is not on the globe.
   */
  toGeoJSON(conditions?: AlertConditions): AlertCollection;
}

/** How to read files of alerts. */
export interface AlertReadOptions {
  /**
   * A bundle of zones, as `mesonet-server` ships it, unpacked. It gives outlines to alerts that
   * name zones and draw nothing.
   */
  readonly zones?: Uint8Array | ArrayBuffer | undefined;
}

/** The readers of alerts. */
export interface AlertFunctions {
  /**
   * Reads alerts of the Common Alerting Protocol (XML), of Canada and of the United States: one
   * file, or several of one collection. A file may hold many messages.
   *
   * Tests, exercises and messages that are not public are left out. They are among the refusals of
   * their file, like messages that cannot be read.
   *
   * @throws {MesonetError} for a file that is not CAP, that breaks off, or that is larger than 16
   * MB.
   */
  readCap(source: AlertSource | readonly AlertSource[], options?: AlertReadOptions): Alerts;
  /**
   * Reads alerts of the United States from api.weather.gov (GeoJSON), as {@link readCap} does.
   *
   * @throws {MesonetError} for a file that is none of these.
   */
  readNwsAlerts(source: AlertSource | readonly AlertSource[], options?: AlertReadOptions): Alerts;
}

/** The readers over the flat module. */
export function alertFunctions(raw: Raw): AlertFunctions {
  type Held = InstanceType<Raw["AlertMessages"]>;
  const reader =
    (add: (held: Held, content: Uint8Array) => string) =>
    (source: unknown, options: unknown = {}): Alerts => {
      const contents = Array.isArray(source)
        ? array(source, "sources").map((one, at) => contentOf(one, `source ${at}`))
        : [contentOf(source, "source")];
      const { zones } = object(options, "options");
      const bundle = (zones ?? undefined) === undefined ? undefined : bytesOf(zones, "zones");
      const made = refusing(() => new raw.AlertMessages(bundle));
      const [held, freeing] = resident(made, "this list of alerts");
      try {
        const files = contents.map((content, at) => {
          const [what, run] = [Array.isArray(source) ? `source ${at}: ` : "", () => add(made, content)];
          return JSON.parse(naming(what, run)) as AlertFile;
        });
        return Object.freeze({ files, ...ofHeld(held), ...freeing });
      } catch (error) {
        freeing.free();
        throw error;
      }
    };
  return {
    readCap: reader((held, content) => held.add_cap(content)),
    readNwsAlerts: reader((held, content) => held.add_nws_alerts(content)),
  };
}

function ofHeld(held: () => InstanceType<Raw["AlertMessages"]>): Omit<Alerts, "files" | keyof Resident> {
  return {
    messages: () => (JSON.parse(refusing(() => held().messages())) as Named[]).map(messageOf),
    states(options = {}) {
      const clock = clockOf(object(options, "options"));
      return JSON.parse(refusing(() => held().states(...clock))) as AlertState[];
    },
    toGeoJSON(conditions = {}) {
      const given = object(conditions, "conditions");
      const isActive = flag(given["active"] ?? false, "active");
      const language = wellFormed(text(given["language"] ?? "en", "language"), "language");
      const [sides, place] = [sidesOf(given["bbox"]), placeOf(given["place"])];
      const parts = [...clockOf(given), isActive, language, sides, place] as const;
      return JSON.parse(refusing(() => held().geojson(...parts))) as AlertCollection;
    },
  };
}

/** Runs a function; a refusal names its subject. */
function naming<T>(what: string, run: () => T): T {
  try {
    return refusing(run);
  } catch (error) {
    throw error instanceof MesonetError ? new MesonetError(what + error.message) : error;
  }
}

/** The time, and whether messages after it do not count. */
function clockOf({ atMs }: Record<string, unknown>): [atMs: number, isReplay: boolean] {
  const isLive = atMs === undefined || atMs === null;
  return isLive ? [Date.now(), false] : [milliseconds(atMs, "atMs"), true];
}

function sidesOf(bbox: unknown): Float64Array | undefined {
  if (bbox === undefined || bbox === null) {
    return undefined;
  }
  const sides = array(bbox, "bbox");
  if (sides.length !== 4) {
    throw new MesonetError(`bbox must be west, south, east, north; got ${sides.length} numbers`);
  }
  return Float64Array.from(sides, (side, at) => number(side, `bbox: side ${at}`));
}

function placeOf(place: unknown): Float64Array | undefined {
  if (place === undefined || place === null) {
    return undefined;
  }
  const { lon, lat } = object(place, "place");
  return Float64Array.of(number(lon, "lon"), number(lat, "lat"));
}

/** The bytes of a file. */
function contentOf(source: unknown, what: string): Uint8Array {
  return typeof source === "string"
    ? encoded(wellFormed(source, what), what)
    : unicode(bytesOf(source, what, "a string, "), what);
}

function bytesOf(source: unknown, what: string, or = ""): Uint8Array {
  if (!isClass(source, "Uint8Array") && !isClass(source, "ArrayBuffer")) {
    const got = className(source);
    throw new TypeError(`${what} must be ${or}a Uint8Array or an ArrayBuffer; got ${got}`);
  }
  const given = attached(source, what);
  const bytes = isClass(given, "Uint8Array") ? given : new Uint8Array(given);
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    throw new MesonetError(`${what} is packed with gzip; unpack it, as with DecompressionStream`);
  }
  return bytes;
}

/** A text that is valid Unicode: half a surrogate pair would silently become another character. */
function wellFormed(given: string, what: string): string {
  const at = given.search(/\p{Surrogate}/u);
  if (at >= 0) {
    throw new MesonetError(`${what} has half a surrogate pair at ${at}`);
  }
  return given;
}

/** An object with the member names of the core. */
type Named = Record<string, unknown>;

/**
 * The same object with JavaScript names. Keys of inner objects, such as the lists of event codes,
 * are data.
 */
function renamed(of: Named): Named {
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [camel(name), value]));
}

function messageOf(of: Named): AlertMessage {
  const parts = (of["parts"] as Named[]).map((part) => ({
    ...renamed(part),
    texts: (part["texts"] as Named[]).map(renamed),
    storm: part["storm"] === null ? null : renamed(part["storm"] as Named),
    areas: (part["areas"] as Named[]).map(renamed),
  }));
  return { ...renamed(of), parts } as unknown as AlertMessage;
}
