// Verdicts: their order, colours and shapes.
import type { BaseQuality } from "../api/types";

/** Worst first, as the service ranks them. */
export const QUALITIES: readonly BaseQuality[] = [
  "Suppressed",
  "Missing",
  "Error",
  "Doubtful",
  "Inconsistent",
  "Instrumentation",
  "Good",
  "Unknown",
];

/** A hue for each, and a shape, so that none is told by its colour alone. */
export const QUALITY_MARKS: Readonly<Record<BaseQuality, { colour: string; shape: "disc" | "square" | "diamond" | "triangle" | "ring" }>> = {
  Suppressed: { colour: "#7a7f87", shape: "ring" },
  Missing: { colour: "#7a7f87", shape: "ring" },
  Error: { colour: "#c5221f", shape: "square" },
  Doubtful: { colour: "#c77700", shape: "triangle" },
  Inconsistent: { colour: "#7b3fb5", shape: "diamond" },
  Instrumentation: { colour: "#1f6fd1", shape: "diamond" },
  Good: { colour: "#6f8f7a", shape: "disc" },
  Unknown: { colour: "#a9adb3", shape: "disc" },
};

export const rank = (quality: BaseQuality): number => QUALITIES.indexOf(quality);
export const isBad = (quality: BaseQuality): boolean => rank(quality) < QUALITIES.indexOf("Good");
