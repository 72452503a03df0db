// A plot of one or two series: gaps stay gaps, verdicts have their marks, its cross-hair is that of all others.
import "uplot/dist/uPlot.min.css";

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

import { core } from "../domain/core";
import { isBad, QUALITY_MARKS } from "../domain/quality";
import { digits, shown, shownUnit } from "../domain/variables";
import { locale, system, theme } from "../view";
import type { BaseQuality } from "../api/types";
import { hourOf } from "../domain/time";
import { drawBarb } from "../map/barb";
import { zone } from "../ui/clock";
import { usualInterval } from "./series";

export interface Curve {
  readonly label: string;
  readonly unit: string;
  readonly times_s: readonly number[];
  readonly values: readonly number[];
  readonly verdicts?: readonly BaseQuality[];
  readonly colour: string;
  readonly dashed?: boolean;
  /** Points only: a direction has no line. */
  readonly points?: boolean;
  /** Its last value is not the latest: dashed, and not beside the title. */
  readonly isForecast?: boolean;
}

/** A wind, drawn below the plot. */
export interface Wind {
  readonly time_s: number;
  readonly speed_kmh: number;
  readonly from_deg: number;
}

export interface PlotProps {
  readonly title: string;
  readonly curves: readonly Curve[];
  readonly range_s: readonly [number, number];
  readonly onZoom?: (range_s: [number, number] | undefined) => void;
  readonly onPick?: (curve: number, at: number) => void;
  readonly height?: number;
  readonly between?: readonly [number, number];
  readonly winds?: readonly Wind[];
  readonly isSouthern?: boolean;
}

/** What barbs below a plot take of the height, and how far apart they are at least. */
const BARBS_PX = 34;
const BARB_PX = 17;

const sync = uPlot.sync("plots");

export function Plot({ title, curves, range_s, onZoom, onPick, height: own = 112, between, winds, isSouthern }: PlotProps) {
  const height = own + (winds ? BARBS_PX : 0);
  const element = useRef<HTMLDivElement>(null);
  const unit = shownUnit(curves[0]?.unit ?? "", system.value);
  const measured = curves.filter(({ isForecast }) => !isForecast);
  const latest = measured.flatMap(({ values, unit: own, label, colour }) => {
    const value = values.at(-1);
    return value === undefined ? [] : [{ label, colour, text: digits(shown(value, own, system.value), unit, locale.value) }];
  });
  const said = latest.map(({ label, text }) => (measured.length > 1 ? `${label} ${text}` : text)).join(", ");
  useEffect(() => {
    if (!element.current) return undefined;
    const box = element.current;
    const plot = made(box, { title, curves, range_s, ...(onZoom && { onZoom }), ...(onPick && { onPick }), height, ...(between && { between }), ...(winds && { winds }), ...(isSouthern && { isSouthern }) });
    const watcher = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
    watcher.observe(box);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [curves, range_s[0], range_s[1], system.value, locale.value, theme.value, zone.value]);
  return (
    <figure class="plot">
      <figcaption>
        <b>{title}</b> <span>{unit}</span> <output title={said}>
          {latest.map(({ label, colour, text }) => (
            <span key={label} style={measured.length > 1 ? `color:${colour}` : ""}>
              {text}
            </span>
          ))}
        </output>
      </figcaption>
      <div ref={element} role="img" aria-label={`${title}: ${said} ${unit}`} onDblClick={() => onZoom?.(undefined)} />
    </figure>
  );
}

/** Curves on one axis of time, with a gap where a reading is missing for twice the usual interval. */
function aligned(curves: readonly Curve[]): { times: number[]; rows: (number | null)[][]; places: (number | undefined)[][] } {
  const gaps = curves.flatMap(({ times_s }) => {
    const most = usualInterval(times_s) * 2;
    return times_s.slice(1).flatMap((time, at) => (time - times_s[at]! > most ? [times_s[at]! + most / 2] : []));
  });
  const times = [...new Set([...curves.flatMap(({ times_s }) => times_s), ...gaps])].sort((a, b) => a - b);
  const rows: (number | null)[][] = [];
  const places: (number | undefined)[][] = [];
  for (const { times_s, values, unit } of curves) {
    const at = new Map(times_s.map((time, place) => [time, place]));
    const most = usualInterval(times_s) * 2;
    const own = times.map((time) => at.get(time));
    let last = -Infinity;
    rows.push(
      times.map((time, place) => {
        const found = own[place];
        if (found !== undefined) {
          last = time;
          return shown(values[found]!, unit, system.value);
        }
        // Undefined is bridged, null is a gap.
        return time - last < most ? (undefined as unknown as null) : null;
      }),
    );
    places.push(own);
  }
  return { times, rows, places };
}

function made(box: HTMLElement, { curves, range_s, onZoom, onPick, height, between, winds, isSouthern = false }: PlotProps): uPlot {
  const { times, rows, places } = aligned(curves);
  const styles = getComputedStyle(document.documentElement);
  const ink = styles.getPropertyValue("--ink-soft").trim();
  const ground = styles.getPropertyValue("--panel").trim();
  const grid = { stroke: styles.getPropertyValue("--line").trim(), width: 1 };
  const font = "11px system-ui, sans-serif";
  const marks = (plot: uPlot) => {
    const { ctx } = plot;
    const ratio = devicePixelRatio || 1;
    curves.forEach(({ verdicts }, curve) => {
      places[curve]!.forEach((place, at) => {
        const verdict = place === undefined ? undefined : verdicts?.[place];
        if (!verdict) return;
        const x = plot.valToPos(times[at]!, "x", true);
        if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) return;
        ctx.fillStyle = QUALITY_MARKS[verdict].colour;
        ctx.fillRect(x - ratio, plot.bbox.top + plot.bbox.height - (isBad(verdict) ? 9 : 4) * ratio, 2 * ratio, (isBad(verdict) ? 9 : 4) * ratio);
        const value = rows[curve]![at];
        if (!isBad(verdict) || value == null) return;
        ctx.beginPath();
        ctx.arc(x, plot.valToPos(value, "y", true), 4.5 * ratio, 0, 2 * Math.PI);
        ctx.fill();
        ctx.lineWidth = 1.5 * ratio;
        ctx.strokeStyle = "#fff";
        ctx.stroke();
      });
    });
  };
  const barbs = (plot: uPlot) => {
    const { ctx } = plot;
    const ratio = devicePixelRatio || 1;
    let last = -Infinity;
    ctx.save();
    ctx.scale(ratio, ratio);
    ctx.strokeStyle = styles.getPropertyValue("--ink").trim();
    ctx.lineWidth = 1.2;
    for (const { time_s, speed_kmh, from_deg } of winds ?? []) {
      const x = plot.valToPos(time_s, "x", true) / ratio;
      if (x < plot.bbox.left / ratio || x > (plot.bbox.left + plot.bbox.width) / ratio || x - last < BARB_PX * 1.6) continue;
      last = x;
      // The middle of the shaft is under its time.
      const [east, north] = [Math.sin((from_deg * Math.PI) / 180), Math.cos((from_deg * Math.PI) / 180)];
      const y = (height ?? 0) - BARBS_PX / 2;
      const speed_kt = core().convert(speed_kmh, "km/h", "kt");
      drawBarb(ctx, x - (east * BARB_PX) / 2, y + (north * BARB_PX) / 2, speed_kt, from_deg, isSouthern, BARB_PX);
    }
    ctx.restore();
  };
  const options: uPlot.Options = {
    ...(winds && { padding: [null, null, BARBS_PX, null] }),
    width: box.clientWidth || 380,
    height: height ?? 112,
    legend: { show: false },
    tzDate: (time) => uPlot.tzDate(new Date(time * 1e3), zone.value),
    cursor: { sync: { key: sync.key, setSeries: false }, drag: { x: true, y: false, setScale: false }, y: false, points: { size: 7 } },
    scales: { x: { time: true, range: [range_s[0], range_s[1]] }, y: { range: between ? [between[0], between[1]] : padded } },
    axes: [
      { stroke: ink, font, grid, ticks: { show: false }, size: 22, values: (_, all) => all.map(hours) },
      { stroke: ink, font, grid, ticks: { show: false }, size: 46, space: 15, values: (_, all) => all.map(number), ...(between && { incrs: [...QUARTERS] }) },
    ],
    series: [
      {},
      ...curves.map(({ colour, dashed, points, label, isForecast }): uPlot.Series => ({
        label,
        stroke: colour,
        width: points ? 0 : isForecast ? 1.3 : 1.7,
        ...((dashed || isForecast) && { dash: [5, 3] }),
        // A forecast is hollow where a reading is full.
        points: { show: points || (!isForecast && rows[0]!.length < 60), size: 4.5, fill: isForecast ? ground : colour },
        ...(points && { paths: () => null }),
      })),
    ],
    hooks: {
      draw: [marks, barbs],
      setSelect: [
        (plot) => {
          if (plot.select.width > 6) onZoom?.([plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x")]);
        },
      ],
    },
  };
  const plot = new uPlot(options, [times, ...rows] as uPlot.AlignedData, box);
  plot.over.addEventListener("click", () => {
    const at = plot.cursor.idx;
    const place = at == null ? undefined : places[0]![at];
    if (place !== undefined) onPick?.(0, place);
  });
  return plot;
}

function padded(_: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const pad = Math.max((high - low) * 0.12, Math.abs(high) * 0.001, 0.2);
  return [low - pad, high + pad];
}

/** Of a scale that ends where the circle closes. */
const QUARTERS = [45, 90, 180, 360];

const number = (value: number) => value.toLocaleString(locale.value, { useGrouping: "min2", maximumFractionDigits: 6 }).replace("-", "\u2212");

/** The hour at a place of the axis; the day where one begins. */
const hours = (time_s: number) => {
  const text = hourOf(time_s * 1000, zone.value);
  if (text !== "00:00") return text;
  return new Date(time_s * 1000).toLocaleDateString(locale.value, { timeZone: zone.value, day: "numeric", month: "short" });
};
