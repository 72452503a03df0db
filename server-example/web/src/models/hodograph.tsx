// The wind of a sounding from above: its end points by height, in rings of speed.
import { digits, shown, shownUnit } from "../domain/variables";
import { word } from "../ui/words";
import { locale, system } from "../view";
import type { Level } from "./thermodynamics";

const SIDE = 200;
const PARTS: readonly (readonly [number, string])[] = [
  [700, "low"],
  [400, "middle"],
  [0, "high"],
];

export function Hodograph({ levels }: { levels: readonly Level[] }) {
  const winds = levels.flatMap(({ hPa, u, v }) => (u === undefined || v === undefined ? [] : [{ hPa, u, v }]));
  if (winds.length < 2) return null;
  const strongest = Math.max(...winds.map(({ u, v }) => Math.hypot(u, v)), 10);
  const rings = Array.from({ length: 3 }, (_, at) => Math.ceil(strongest / 3 / 5) * 5 * (at + 1));
  const scale = (SIDE / 2 - 14) / rings[2]!;
  const point = ({ u, v }: { u: number; v: number }) => `${(u * scale).toFixed(1)} ${(-v * scale).toFixed(1)}`;
  const part = (hPa: number) => PARTS.findIndex(([down]) => hPa > down);
  const named = winds.filter(({ hPa }) => [850, 700, 500, 300, 200].includes(hPa));
  // The rings are named on the side where no height is.
  const room = (side: number) => Math.min(...named.flatMap(({ u, v }) => rings.map((speed) => Math.hypot(u, v + side * speed))));
  const side = room(-1) >= room(1) ? -1 : 1;
  return (
    <svg class="hodograph" viewBox={`${-SIDE / 2} ${-SIDE / 2} ${SIDE} ${SIDE}`} role="img" aria-label={word("hodograph")}>
      {rings.map((speed) => (
        <g key={speed}>
          <circle r={speed * scale} class="ring" />
          <text x={2} y={side * speed * scale + (side < 0 ? -2 : 8)} class="faint">
            {digits(shown(speed, "m/s", system.value), "km/h", locale.value)}
            {speed === rings[2] && ` ${shownUnit("m/s", system.value)}`}
          </text>
        </g>
      ))}
      <path class="ring" d={`M${-SIDE / 2} 0H${SIDE / 2}M0 ${-SIDE / 2}V${SIDE / 2}`} />
      {winds.slice(1).map((wind, at) => (
        <path key={wind.hPa} class={`part ${PARTS[part(wind.hPa)]![1]}`} d={`M${point(winds[at]!)}L${point(wind)}`} />
      ))}
      {named.map((wind) => (
        <g key={wind.hPa}>
          <circle cx={wind.u * scale} cy={-wind.v * scale} r={2.2} class="own" />
          <text x={wind.u * scale + 4} y={-wind.v * scale + 3}>
            {wind.hPa}
          </text>
        </g>
      ))}
    </svg>
  );
}
