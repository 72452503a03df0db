import { legendStops, type Scale } from "../domain/colour";
import { QUALITIES, QUALITY_MARKS } from "../domain/quality";
import { digits, MAP_VARIABLES, mapVariable, shown, shownUnit } from "../domain/variables";
import { alerts, colourOfAlert } from "../alerts/record";
import { field, paintOf } from "../models/fields";
import { tileTrouble, underPointer } from "../models/model_layer";
import { MODEL_ZOOM } from "../map/close_up";
import { valueCount } from "../map/stations_layer";
import { productPaint } from "../products/catalogue";
import { underPointer as underProduct } from "../products/product_layer";
import { camera, isTableOpen, language, layer, locale, stationModels, system, variable } from "../view";
import { Hint } from "./hint";
import { Trouble } from "./states";
import { word } from "./words";

export function Legend() {
  return (
    <section class="legend" aria-label={word("legend")}>
      {layer.value === "stations" && <OfStations />}
      {layer.value === "quality" && <OfQuality />}
      {layer.value === "alerts" && <OfAlerts />}
      {layer.value === "models" && <OfField />}
      {layer.value === "products" && productPaint.value && <OfProduct {...productPaint.value} />}
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

/** The colours of a scale with its ends, its middle, and its unit. */
export function Ramp({ scale, unit }: { scale: Scale; unit: string }) {
  const to = shownUnit(unit, system.value);
  const number = (part: number) => digits(shown(scale.from + part * (scale.to - scale.from), unit, system.value), to, locale.value, true);
  const stops = legendStops(scale);
  return (
    <div class="ramp">
      <svg viewBox={`0 0 ${stops.length} 1`} preserveAspectRatio="none" aria-hidden="true">
        {stops.map((colour, at) => (
          <rect key={at} x={at} y={0} width={1.05} height={1} fill={colour} />
        ))}
      </svg>
      <span>{number(0)}</span>
      <span>{number(0.5)}</span>
      <span>
        {number(1)} {to}
      </span>
    </div>
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
      <Hint />
    </>
  );
}

/** The mark of a verdict in a text. */
export function Mark({ quality }: { quality: (typeof QUALITIES)[number] }) {
  const { colour, shape } = QUALITY_MARKS[quality];
  const paths = { square: "M3 3h10v10H3z", diamond: "M8 1l7 7-7 7-7-7z", triangle: "M8 2l7 12H1z" };
  return (
    <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
      {shape === "ring" ? (
        <circle cx={8} cy={8} r={5} fill="none" stroke={colour} stroke-width={2.5} />
      ) : shape === "disc" ? (
        <circle cx={8} cy={8} r={4.5} fill={colour} />
      ) : (
        <path d={paths[shape]} fill={colour} />
      )}
    </svg>
  );
}

function OfAlerts() {
  const kinds = ["Warning", "Watch", "Advisory", "Statement"];
  const example = (kind: string) => (alerts.value ?? []).find(({ properties }) => properties.alertType === kind);
  return (
    <ul class="keys">
      {kinds.map((kind) => {
        const one = example(kind);
        return (
          <li key={kind}>
            <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
              <rect x={2} y={3} width={12} height={10} fill={one ? colourOfAlert(one) : "#7a7f87"} fill-opacity={0.3} stroke={one ? colourOfAlert(one) : "#7a7f87"} stroke-width={2} />
            </svg>{" "}
            {word(kind)}
          </li>
        );
      })}
    </ul>
  );
}

function OfProduct(paint: { scale: Scale; unit: string; noEcho: number | undefined }) {
  return (
    <>
      <Ramp {...paint} />
      <Under value={underProduct.value} unit={paint.unit} noEcho={paint.noEcho} />
    </>
  );
}

/** The value under the pointer. */
function Under({ value, unit, noEcho }: { value: number | undefined; unit: string; noEcho: number | undefined }) {
  const to = shownUnit(unit, system.value);
  if (value !== undefined && noEcho !== undefined && Math.abs(value - noEcho) < 1e-3) return <output id="under">{word("noEcho")}</output>;
  const text = value === undefined ? undefined : `${digits(shown(value, unit, system.value), to, locale.value)}\u202f${to}`;
  return <output id="under">{text ?? <small>{word("pointHint")}</small>}</output>;
}

function OfField() {
  const of = field.value;
  const paint = of && paintOf(of);
  return (
    <>
      {tileTrouble.value && <Trouble text={tileTrouble.value} />}
      {paint && <Ramp {...paint} />}
      {paint && <Under value={underPointer.value} unit={paint.unit} noEcho={of.no_echo} />}
    </>
  );
}
