import { isBad, QUALITIES } from "../domain/quality";
import { MAP_VARIABLES, mapVariable } from "../domain/variables";
import { MODEL_ZOOM } from "../map/close_up";
import { mapScale } from "../map/fitted_scale";
import { BARB_ZOOM, valueCount } from "../map/stations_layer";
import { lateFeeds } from "../quality/feeds";
import { camera, isFeedsOpen, isTableOpen, language, layer, locale, station, stationModels, variable } from "../view";
import { Hint } from "./hint";
import { Fitted, LateMark, Mark, Ramp, type Sign, Signs } from "./legend_parts";
import { AlertsLegend, FieldLegend, ProductLegend } from "./parts";
import { word } from "./words";

export function Legend() {
  return (
    <section class="legend" aria-label={word("legend")} tabIndex={0}>
      {layer.value === "stations" && <OfStations />}
      {layer.value === "quality" && <OfQuality />}
      {layer.value === "alerts" && <AlertsLegend />}
      {layer.value === "models" && <FieldLegend />}
      {layer.value === "products" && <ProductLegend />}
    </section>
  );
}

function OfStations() {
  const { unit } = mapVariable(variable.value);
  const zoom = camera.value.zoom;
  const isPlotted = zoom >= MODEL_ZOOM && stationModels.value;
  const isWind = variable.value.startsWith("wind");
  const signs: readonly (Sign | false)[] = ["old", "hollow", (isPlotted || (isWind && zoom >= BARB_ZOOM)) && "barb", isPlotted && "model", station.value !== undefined && "chosen", "name"];
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
      <Ramp scale={mapScale.value} unit={unit} />
      <Fitted />
      {zoom >= MODEL_ZOOM && (
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
      <Signs of={signs}>
        <ul class="keys">
          {QUALITIES.filter(isBad).map((quality) => (
            <li key={quality}>
              <Mark quality={quality} /> {word(quality)}
            </li>
          ))}
        </ul>
      </Signs>
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

