// The panel beside the map; on a phone a sheet over its lower part, drawn to a fifth, to half or to four fifths of the height.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

import { closePanel } from "../view";
import { word } from "./words";

const HEIGHTS = ["peek", "half", "full"] as const;
type Height = (typeof HEIGHTS)[number];

/** The parts of the page's height; the style sheet has the same. */
const PARTS: Readonly<Record<Height, number>> = { peek: 0.2, half: 0.5, full: 0.82 };
const CLICK_PX = 6;
const LEAST_PX = 60;

export const height = signal<Height>("half");

/** Draws the sheet up or down by a step. */
function move(by: number): void {
  const at = HEIGHTS.indexOf(height.value) + by;
  height.value = HEIGHTS[Math.min(Math.max(at, 0), HEIGHTS.length - 1)]!;
}

/** The height that a part of the page is nearest to. */
function nearestHeight(part: number): Height {
  return HEIGHTS.reduce((best, one) => (Math.abs(PARTS[one] - part) < Math.abs(PARTS[best] - part) ? one : best));
}

export interface SheetProps {
  /** What the panel is about. */
  readonly name: string;
  readonly canClose: boolean;
  readonly children: ComponentChildren;
}

export function Sheet({ name, canClose, children }: SheetProps) {
  return (
    <aside class="panel" aria-label={name} data-close={canClose ? "" : undefined}>
      <div class="bar">
        <span class="kind">{name}</span>
        <Handle />
        {canClose && (
          <button type="button" class="close" onClick={closePanel} aria-label={word("close")} title={`${word("close")} (Esc)`}>
            ×
          </button>
        )}
      </div>
      <div class="body">{children}</div>
    </aside>
  );
}

/** Goes round the heights. */
function turn(): void {
  height.value = HEIGHTS[(HEIGHTS.indexOf(height.value) + 1) % HEIGHTS.length]!;
}

/** Drawn by a finger; a press goes round the heights, arrows go up and down. */
function Handle() {
  const drag = useRef<{ readonly from: number; readonly height: number; moved: number } | undefined>(undefined);
  const panelOf = (element: HTMLElement) => element.closest<HTMLElement>(".panel")!;
  const pageOf = (element: HTMLElement) => element.closest<HTMLElement>(".page")!;
  const hasMoved = () => (drag.current?.moved ?? 0) > CLICK_PX;
  return (
    <button
      type="button"
      class="handle"
      aria-label={word("sheet", word(height.value))}
      onPointerDown={({ currentTarget, pointerId, clientY }) => {
        currentTarget.setPointerCapture(pointerId);
        drag.current = { from: clientY, height: panelOf(currentTarget).offsetHeight, moved: 0 };
      }}
      onPointerMove={({ currentTarget, clientY, buttons }) => {
        const of = drag.current;
        if (!of || buttons === 0) return;
        of.moved = Math.max(of.moved, Math.abs(clientY - of.from));
        const px = Math.max(of.height + of.from - clientY, LEAST_PX);
        if (hasMoved()) pageOf(currentTarget).style.setProperty("--sheet", `${px}px`);
      }}
      onLostPointerCapture={({ currentTarget }) => {
        // A drag of the mouse ends in a click, which comes before the timer.
        setTimeout(() => (drag.current = undefined));
        if (!hasMoved()) return;
        const page = pageOf(currentTarget);
        height.value = nearestHeight(panelOf(currentTarget).offsetHeight / page.offsetHeight);
        page.style.removeProperty("--sheet");
      }}
      onClick={() => {
        if (!hasMoved()) turn();
      }}
      onKeyDown={(event) => {
        if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
        move(event.key === "ArrowUp" ? 1 : -1);
        event.preventDefault();
      }}
    />
  );
}
