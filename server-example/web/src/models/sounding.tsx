// A sounding as a skew-T log-p diagram, with the wind at its edge and what it says at the pointer.
import { useSignal } from "@preact/signals";

import { core } from "../domain/core";
import { digits, shown, shownUnit, withUnit } from "../domain/variables";
import { feathers } from "../map/barb";
import { word } from "../ui/words";
import { locale, system } from "../view";
import { Hodograph } from "./hodograph";
import type { Level } from "./thermodynamics";
import { dewPointOfRatio, dryAscent, moistAscent, parcel } from "./thermodynamics";

const [WIDTH, HEIGHT] = [372, 400];
const PLOT = { left: 34, right: 326, top: 8, bottom: 376 };
const [BOTTOM_HPA, TOP_HPA] = [1050, 100];
const [COLDEST, WARMEST] = [-40, 45];
const SKEW = 0.92;

const y = (hPa: number) =>
  PLOT.top + (Math.log(hPa / TOP_HPA) / Math.log(BOTTOM_HPA / TOP_HPA)) * (PLOT.bottom - PLOT.top);
const x = (celsius: number, hPa: number) =>
  PLOT.left + ((celsius - COLDEST) / (WARMEST - COLDEST)) * (PLOT.right - PLOT.left) + (PLOT.bottom - y(hPa)) * SKEW * 0.62;

const path = (points: readonly (readonly [number, number])[]) =>
  points.map(([px, py], at) => `${at === 0 ? "M" : "L"}${px.toFixed(1)} ${py.toFixed(1)}`).join("");
const pressures = Array.from({ length: 48 }, (_, at) => BOTTOM_HPA - at * 20).filter((hPa) => hPa >= TOP_HPA);

const GRID = {
  isotherms: Array.from({ length: 15 }, (_, at) => -110 + at * 10).map((celsius) => path([[x(celsius, BOTTOM_HPA), y(BOTTOM_HPA)], [x(celsius, TOP_HPA), y(TOP_HPA)]])),
  dry: Array.from({ length: 14 }, (_, at) => -30 + at * 15).map((theta) => path(pressures.map((hPa) => [x(dryAscent(theta, 1000, hPa), hPa), y(hPa)]))),
  moist: [-10, 0, 8, 16, 24, 32].map((celsius) => {
    const above = pressures.filter((hPa) => hPa <= 1000 && hPa >= 200);
    return path(moistAscent(celsius, 1000, above).map((t, at) => [x(t, above[at]!), y(above[at]!)]));
  }),
  ratios: [1, 2, 4, 8, 16].map((ratio) => path([1050, 900, 750, 600].map((hPa) => [x(dewPointOfRatio(ratio, hPa), hPa), y(hPa)]))),
};

export function Sounding({ levels }: { levels: readonly Level[] }) {
  const pointed = useSignal<Level | undefined>(undefined);
  const drawn = levels.filter(({ hPa }) => hPa >= TOP_HPA);
  const dew = drawn.filter((level) => level.dew !== undefined);
  const lifted = parcel(drawn);
  const kt = ({ u, v }: Level) => (u === undefined || v === undefined ? undefined : core().convert(Math.hypot(u, v), "m/s", "kt"));
  const move = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const at = ((event.clientY - box.top) / box.height) * HEIGHT;
    pointed.value = drawn.reduce<Level | undefined>((best, one) => (!best || Math.abs(y(one.hPa) - at) < Math.abs(y(best.hPa) - at) ? one : best), undefined);
  };
  const isotherms = [-80, -60, -40, -20, 0, 20, 40];
  return (
    <figure class="sounding">
      <figcaption>
        <b>{word("sounding")}</b>
        <output>{pointed.value && readOut(pointed.value)}</output>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${word("sounding")}: ${drawn.length} hPa`} onPointerMove={move} onPointerLeave={() => (pointed.value = undefined)}>
        <clipPath id="skewt">
          <rect x={PLOT.left} y={PLOT.top} width={PLOT.right - PLOT.left} height={PLOT.bottom - PLOT.top} />
        </clipPath>
        <g clip-path="url(#skewt)" class="lines">
          {GRID.dry.map((d) => (
            <path key={d} d={d} class="dry" />
          ))}
          {GRID.moist.map((d) => (
            <path key={d} d={d} class="moist" />
          ))}
          {GRID.ratios.map((d) => (
            <path key={d} d={d} class="ratio" />
          ))}
          {GRID.isotherms.map((d, at) => (
            <path key={d} d={d} class={at === 11 ? "zero" : "isotherm"} />
          ))}
        </g>
        {[1000, 850, 700, 500, 400, 300, 250, 200, 150, 100].map((hPa) => (
          <g key={hPa} class="axis">
            <line x1={PLOT.left} x2={PLOT.right} y1={y(hPa)} y2={y(hPa)} />
            <text x={PLOT.left - 4} y={y(hPa) + 4} text-anchor="end">
              {hPa}
            </text>
          </g>
        ))}
        {isotherms.map((celsius) => {
          const at = x(celsius, BOTTOM_HPA);
          return (
            at >= PLOT.left &&
            at <= PLOT.right && (
              <text key={celsius} class="axis" x={at} y={HEIGHT - 8} text-anchor="middle">
                {digits(shown(celsius, "°C", system.value), "°", locale.value)}°
              </text>
            )
          );
        })}
        <g clip-path="url(#skewt)">
          <path class="parcel" d={path(lifted.map(({ hPa, celsius }) => [x(celsius, hPa), y(hPa)]))} />
          <path class="dew" d={path(dew.map(({ hPa, dew: celsius }) => [x(celsius!, hPa), y(hPa)]))} />
          <path class="temperature" d={path(drawn.map(({ hPa, celsius }) => [x(celsius, hPa), y(hPa)]))} />
          {pointed.value && <line class="pointer" x1={PLOT.left} x2={PLOT.right} y1={y(pointed.value.hPa)} y2={y(pointed.value.hPa)} />}
        </g>
        {drawn.map((level) => {
          const speed = kt(level);
          return speed === undefined ? null : <Barb key={level.hPa} x={350} y={y(level.hPa)} speed_kt={speed} from_deg={from(level)} />;
        })}
      </svg>
      <Hodograph levels={drawn} />
    </figure>
  );
}

const from = ({ u, v }: Level) => (Math.atan2(-(u ?? 0), -(v ?? 0)) * 180) / Math.PI;

function readOut(level: Level): string {
  const { hPa, celsius, dew, height_m } = level;
  const text = (value: number, unit: string) => withUnit(value, unit, system.value, locale.value);
  const wind =
    level.u === undefined || level.v === undefined
      ? ""
      : `${String(Math.round((from(level) + 360) % 360)).padStart(3, "0")}° ${digits(shown(Math.hypot(level.u, level.v), "m/s", system.value), "km/h", locale.value)} ${shownUnit("m/s", system.value)}`;
  return [`${hPa} hPa`, height_m === undefined ? "" : text(height_m, "m"), text(celsius, "°C"), dew === undefined ? "" : text(dew, "°C"), wind]
    .filter(Boolean)
    .join(" · ");
}

/** A barb as lines of a picture. */
function Barb({ x: px, y: py, speed_kt, from_deg }: { x: number; y: number; speed_kt: number; from_deg: number }) {
  const { pennants, full, half } = feathers(speed_kt);
  if (pennants + full === 0 && !half) return <circle class="barb" cx={px} cy={py} r={2.5} />;
  let at = -18;
  let d = "M0 0V-18";
  for (let count = 0; count < pennants; count += 1, at += 6) d += `M0 ${at}L8 ${at + 1}L0 ${at + 4.5}Z`;
  for (let count = 0; count < full; count += 1, at += 3.2) d += `M0 ${at}L8 ${at - 3}`;
  if (half) {
    if (pennants + full === 0) at += 3.2;
    d += `M0 ${at}L4 ${at - 1.5}`;
  }
  return <path class="barb" d={d} transform={`translate(${px} ${py}) rotate(${from_deg.toFixed(0)})`} />;
}
