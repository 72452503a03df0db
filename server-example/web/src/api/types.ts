// What the endpoints answer, as far as the page reads it; the whole is at /openapi/v1.json.

export type BaseQuality =
  | "Suppressed"
  | "Missing"
  | "Error"
  | "Doubtful"
  | "Inconsistent"
  | "Instrumentation"
  | "Good"
  | "Unknown";

export interface Quality {
  readonly baseQuality: BaseQuality;
  readonly reasonQuality: string;
}

export interface Index {
  readonly version: string;
  readonly replay?: string;
  readonly replayAlerts?: { readonly canada: string; readonly unitedStates: string };
  readonly assumedPlan?: string;
  readonly endpoints: readonly string[];
}

export interface SeriesType {
  readonly id: number;
  readonly name: string;
  readonly prettyName: string;
  readonly groupBucketName: string;
  readonly reportedUnit: string;
  readonly calculated: boolean;
  readonly intervalType: string;
  readonly intervalMinutes: number;
}

export interface StationDetail {
  readonly network: string;
  readonly name: string;
  readonly stationType: string;
  readonly presentWeather?: readonly string[];
  readonly coordinates: readonly [number, number];
  /** The height of the sensor above ground. */
  readonly elevation: number;
  /** Above mean sea level, if it is known; only where it is asked for. */
  readonly altitude?: number;
  readonly updateTime?: string;
  /** Its zone of the tz database, where local times are asked for. */
  readonly timeZone?: string;
  readonly types: readonly SeriesType[];
  readonly qualities: readonly BaseQuality[];
  readonly identifiers?: Readonly<Record<string, readonly string[]>>;
  /** Only where it is asked for. */
  readonly typeCount?: number;
}

export interface StationWeather {
  readonly reports: readonly { readonly timestamp: string; readonly presentWeather: readonly string[] }[];
}

export interface StationReports {
  readonly reports: readonly { readonly timestamp: string; readonly revision: number; readonly header?: string; readonly text: string }[];
}

export interface Reading {
  readonly timestamp: string;
  readonly type: string;
  readonly typeId: number;
  readonly value: number;
  readonly quality: Quality;
  readonly age?: number;
}

export interface Readings {
  readonly stations: Readonly<Record<string, { readonly readings: readonly Reading[] }>>;
  readonly step?: number;
}

export interface ObservationSeries {
  readonly reportedUnit: string;
  readonly readings: readonly {
    readonly timestamp: string;
    readonly value: number;
    readonly quality: Quality;
    readonly qualifier?: string;
    readonly groupBucketName?: string;
  }[];
}

interface Extreme {
  readonly value: number;
  readonly quality: Quality;
  readonly coveragePercent: number;
  readonly from: { readonly timestamp: string };
}

export interface StationSummaries {
  readonly utcOffset: string;
  readonly periods: readonly {
    readonly name: string;
    readonly start: string;
    readonly variables: Readonly<Record<string, { readonly unit: string; readonly max?: Extreme; readonly min?: Extreme; readonly total?: Omit<Extreme, "from"> }>>;
  }[];
}

export interface Feed {
  readonly network: string;
  readonly stations: number;
  readonly newest?: string;
  readonly lateAfterMinutes?: number;
  readonly late: boolean;
}

export interface Explanation {
  readonly variable: string;
  readonly unit: string;
  readonly timestamp: string;
  readonly value: number;
  readonly quality?: Quality;
  readonly source: Quality;
  readonly checks: readonly CheckReport[];
  readonly calculatedFrom?: readonly unknown[];
}

export interface CheckReport {
  readonly check: string;
  readonly ran: boolean;
  readonly notRunBecause?: string;
  readonly inputs: readonly CheckInput[];
  readonly limits: readonly CheckLimit[];
  readonly outcome?: Quality;
  readonly neighbours?: readonly Neighbour[];
}

export interface CheckInput {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly timestamp?: string;
}

export interface CheckLimit {
  readonly name: string;
  readonly min?: number;
  readonly max?: number;
  readonly unit: string;
  readonly source: string;
}

export interface Neighbour {
  readonly stationId: string;
  readonly name: string;
  readonly distanceKm: number;
  readonly riseM?: number;
  readonly value: number;
  readonly weight?: number;
  readonly standardizedDifference?: number;
}

export type AlertStatus = "Active" | "Superseded" | "Ended" | "Cancelled" | "Unknown";

export interface AlertProperties {
  readonly id: string;
  readonly issuer: string;
  readonly messageType: string;
  readonly effectiveTime?: string;
  readonly expiryTime?: string;
  readonly alertColour: string;
  readonly alertImpact: string;
  readonly alertConfidence: string;
  readonly alertType: string;
  readonly alertHeadline: string;
  readonly alertDescription: string;
  readonly instruction?: string;
  readonly status?: AlertStatus;
  readonly severity?: string;
  readonly urgency?: string;
  readonly certainty?: string;
  readonly sent?: string;
  readonly onset?: string;
  readonly event?: string;
  readonly language?: string;
  readonly previousIds?: readonly string[];
  readonly nextIds?: readonly string[];
  readonly eventEndTime?: string;
  readonly web?: string;
  /** The province, where the issuer names it. */
  readonly coverage?: string;
  readonly areas?: readonly AlertArea[];
}

export interface AlertArea {
  readonly description: string;
  readonly kind: string;
  readonly status?: AlertStatus;
  readonly clcCode?: string;
  readonly ugcCode?: string;
  readonly zoneKind?: string;
}

export interface AlertFeature {
  readonly type: "Feature";
  readonly id: string;
  readonly geometry: GeoJSON.Polygon | GeoJSON.MultiPolygon | null;
  readonly properties: AlertProperties;
}

export interface ModelCoverage {
  readonly title: string;
  readonly attribution: string;
  readonly bounds: { readonly minLat: number; readonly minLon: number; readonly maxLat: number; readonly maxLon: number };
  readonly nx: number;
  readonly ny: number;
  readonly latest_run: string;
  readonly forecast_hour_axis: readonly number[];
}

export interface ModelProduct {
  readonly name: string;
  readonly unit: string;
  readonly title?: string;
  readonly levels_hpa: readonly number[] | null;
  readonly encoding: { readonly scale: number; readonly offset: number; readonly nodata: number };
  readonly wind?: readonly [string, string];
  readonly no_echo?: number;
}

export interface PointEntry {
  readonly unit: string;
  readonly value?: number | null;
  readonly levels_hpa?: readonly number[];
  readonly values?: readonly (number | null)[];
}

export interface ModelPoint {
  readonly run: string;
  readonly valid_time: string;
  readonly lat: number;
  readonly lon: number;
  readonly fields: Readonly<Record<string, PointEntry>>;
}

export interface ModelSeries {
  readonly run: string;
  readonly lat: number;
  readonly lon: number;
  readonly fields: Readonly<
    Record<string, { readonly unit: string; readonly series: readonly { readonly valid_time: string; readonly value?: number | null }[] }>
  >;
}

export interface ProductListing {
  readonly products: Readonly<
    Record<
      string,
      {
        readonly title: string;
        readonly unit: string;
        readonly scale: number;
        readonly offset: number;
        readonly nodata: number;
        readonly noEcho?: number;
        readonly durations: readonly { readonly duration?: string; readonly timestamps: readonly string[] }[];
      }
    >
  >;
}
