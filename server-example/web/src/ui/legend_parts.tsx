// What legends are made of: the colours of a scale, the mark of a verdict, the value under the pointer.
import type { ComponentChildren } from "preact";

import { legendStops, type Scale } from "../domain/colour";
import { QUALITIES, QUALITY_MARKS } from "../domain/quality";
import { digits, shown, shownUnit } from "../domain/variables";
import { isFitted, locale, system } from "../view";
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

/** Whether colours are fitted to what is there. */
export function Fitted() {
  return (
    <label class="fitted">
      <input id="fitted" type="checkbox" checked={isFitted.value} onChange={({ currentTarget }) => (isFitted.value = currentTarget.checked)} /> {word("fitted")}
    </label>
  );
}

/** Signs on the map, as they are drawn there: strokes, and what is filled. */
const SIGNS = {
  faint: { fill: "M7 6h2v2H7z", isPale: true },
  old: { fill: "M8 3.500a3.500 3.500 0 1 0 .01 0z", isPale: true },
  hollow: { stroke: "M8 5a2.500 2.500 0 1 0 .01 0z" },
  name: { fill: "M7 6h3v3H7z" },
  chosen: { stroke: "M8 1a6 6 0 1 0 .01 0z", isAccent: true },
  barb: { stroke: "M3 12L23 12M3 12L0.500 4M8 12L6.800 8", wide: true },
  model: { stroke: "M13 4a3.500 3.500 0 1 0 .01 0zM13 11V4M13 4L18 1", wide: true },
  ended: { stroke: "M1 2h14v11H1zM1 9l7-7M3 13L14 2M10 13l5-5" },
} as const;
export type Sign = keyof typeof SIGNS;

/** What signs stand for, on request; and what else belongs to them. */
export function Signs({ of, children }: { of: readonly (Sign | false)[]; children?: ComponentChildren }) {
  return (
    <details id="signs">
      <summary>{word("signs")}</summary>
      {of.map((name) => {
        if (name === false) return null;
        const sign: { fill?: string; stroke?: string; isPale?: boolean; isAccent?: boolean; wide?: boolean } = SIGNS[name];
        return (
          <p key={name} class="sign">
            <svg viewBox={sign.wide ? "0 0 26 14" : "0 0 16 14"} class={sign.isPale ? "pale" : sign.isAccent ? "accent" : ""} aria-hidden="true">
              {sign.fill && <path class="filled" d={sign.fill} />}
              {sign.stroke && <path d={sign.stroke} />}
            </svg>{" "}
            {word(`sign.${name}`)}
          </p>
        );
      })}
      {children}
    </details>
  );
}
