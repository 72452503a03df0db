// The parts of the page that are loaded when they are first shown, with the core: they show numbers in all units.
import { loadCore } from "../domain/core";
import { lazy } from "./lazy";

const withCore =
  <T>(load: () => Promise<T>) =>
  async (): Promise<T> => {
    const [part] = await Promise.all([load(), loadCore()]);
    return part;
  };

export const alertsPart = withCore(() => import("../alerts/alerts_part"));
export const modelsPart = withCore(() => import("../models/models_part"));
export const productsPart = withCore(() => import("../products/products_part"));
const stationPart = withCore(() => import("../station/station_part"));
const qualityPart = withCore(() => import("../quality/quality_part"));

export const AlertList = lazy(async () => (await alertsPart()).AlertList);
export const AlertPanel = lazy(async () => (await alertsPart()).AlertPanel);
export const AlertsLegend = lazy(async () => (await alertsPart()).AlertsLegend);
export const AreaPanel = lazy(async () => (await alertsPart()).AreaPanel);
export const FieldLegend = lazy(async () => (await modelsPart()).FieldLegend);
export const ModelControls = lazy(async () => (await modelsPart()).ModelControls);
export const PlacePanel = lazy(async () => (await modelsPart()).PlacePanel);
export const ProductControls = lazy(async () => (await productsPart()).ProductControls);
export const ProductLegend = lazy(async () => (await productsPart()).ProductLegend);
export const FeedsPanel = lazy(async () => (await qualityPart()).FeedsPanel);
export const QualityPanel = lazy(async () => (await qualityPart()).QualityPanel);
export const NamedStation = lazy(async () => (await stationPart()).NamedStation);
export const StationPanel = lazy(async () => (await stationPart()).StationPanel);
export const TablePanel = lazy(async () => (await stationPart()).TablePanel);
