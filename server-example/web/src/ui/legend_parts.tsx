// What legends are made of: the colours of a scale, the mark of a verdict, the value under the pointer.
import { legendStops, type Scale } from "../domain/colour";
import { QUALITIES, QUALITY_MARKS } from "../domain/quality";
import { digits, shown, shownUnit } from "../domain/variables";
import { locale, system } from "../view";
import { word } from "./words";

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

/** The value under the pointer. */
export function Under({ value, unit, noEcho }: { value: number | undefined; unit: string; noEcho: number | undefined }) {
  const to = shownUnit(unit, system.value);
  if (value !== undefined && noEcho !== undefined && Math.abs(value - noEcho) < 1e-3) return <output id="under">{word("noEcho")}</output>;
  const text = value === undefined ? undefined : `${digits(shown(value, unit, system.value), to, locale.value)}\u202f${to}`;
  return <output id="under">{text ?? <small>{word("pointHint")}</small>}</output>;
}

/** The mark of what is late: a clock. */
export function LateMark() {
  return (
    <svg class="mark late" viewBox="0 0 16 16" role="img" aria-label={word("feedLate")}>
      <circle cx={8} cy={8} r={6} />
      <path d="M8 4.500V8l2.500 2" />
    </svg>
  );
}
