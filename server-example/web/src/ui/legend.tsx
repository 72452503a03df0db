import { QUALITIES } from "../domain/quality";
import { MAP_VARIABLES, mapVariable } from "../domain/variables";
import { MODEL_ZOOM } from "../map/close_up";
import { valueCount } from "../map/stations_layer";
import { lateFeeds } from "../quality/feeds";
import { camera, isFeedsOpen, isTableOpen, language, layer, locale, stationModels, variable } from "../view";
import { Hint } from "./hint";
import { LateMark, Mark, Ramp } from "./legend_parts";
import { AlertsLegend, FieldLegend, ProductLegend } from "./parts";
import { word } from "./words";

export function Legend() {
  return (
    <section class="legend" aria-label={word("legend")}>
      {layer.value === "stations" && <OfStations />}
      {layer.value === "quality" && <OfQuality />}
      {layer.value === "alerts" && <AlertsLegend />}
      {layer.value === "models" && <FieldLegend />}
      {layer.value === "products" && <ProductLegend />}
    </section>
  );
}

function OfStations() {
  const { scale, unit } = mapVariable(variable.value);
  return (
    <>
      <label>
        <span class="hidden">{word("variable")}</span>
        <select id="variable" value={variable.value} onChange={({ currentTarget }) => (variable.value = currentTarget.value)}>
          {MAP_VARIABLES.map(({ name, label }) => (
            <option key={name} value={name}>
              {label[language.value]}
            </option>
          ))}
        </select>
      </label>
      <Ramp scale={scale} unit={unit} />
      {camera.value.zoom >= MODEL_ZOOM && (
        <label>
          <input id="plots" type="checkbox" checked={stationModels.value} onChange={({ currentTarget }) => (stationModels.value = currentTarget.checked)} />{" "}
          {word("stationModels")}
        </label>
      )}
      <p class="counted">
        <small id="count">{word("stationCount", valueCount.value.toLocaleString(locale.value))}</small>
        <button type="button" class="link" aria-pressed={isTableOpen.value} onClick={() => (isTableOpen.value = !isTableOpen.value)}>
          {word("table")}
        </button>
      </p>
      <Hint />
    </>
  );
}

function OfQuality() {
  return (
    <>
      <ul class="keys">
        {QUALITIES.map((quality) => (
          <li key={quality}>
            <Mark quality={quality} /> {word(quality)}
          </li>
        ))}
      </ul>
      {lateFeeds.value.length > 0 && (
        <p>
          <LateMark />{" "}
          <button type="button" class="link" onClick={() => (isFeedsOpen.value = true)}>
            {word("feedsLate", lateFeeds.value.length)}
          </button>
        </p>
      )}
      <Hint />
    </>
  );
}

