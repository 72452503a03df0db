// Wind barbs as WMO-No. 485 has them: the shaft points to where the wind comes from; feathers of 5, 10 and
// 50 knots stand, as the wind blows, on its left in the northern hemisphere and on its right in the southern.

/** What stands on a shaft for a speed, rounded to 5 knots. */
export function feathers(speed_kt: number): { pennants: number; full: number; half: boolean } {
  const fives = Math.round(speed_kt / 5);
  return { pennants: Math.floor(fives / 10), full: Math.floor((fives % 10) / 2), half: fives % 2 === 1 };
}

const SPACING = 4;
/** How far feathers reach from the shaft, as a part of its length. */
const REACH = 0.45;

/** Points on a barb whose foot is at 0, 0: along its shaft, and at the ends of feathers. */
export function barbPoints(speed_kt: number, from_deg: number, isSouthern: boolean, length: number): readonly (readonly [number, number])[] {
  const { pennants, full, half } = feathers(speed_kt);
  if (pennants + full === 0 && !half) return [];
  const angle = (from_deg * Math.PI) / 180;
  const [east, south] = [Math.sin(angle), -Math.cos(angle)];
  const side = (isSouthern ? -1 : 1) * REACH * length;
  const shaft = Array.from({ length: 9 }, (_, at) => (length * at) / 8);
  const count = Math.min(pennants * 2 + full + (half ? 1 : 0) + 1, 5);
  const ends = Array.from({ length: count }, (_, at) => length + SPACING * 0.9 - at * SPACING);
  return [...shaft.map((along) => [east * along, south * along] as const), ...ends.flatMap((along) => [0.5, 1].map((part) => [east * along - south * side * part, south * along + east * side * part] as const))];
}

/** Draws a barb whose foot is at a point. A calm is a ring. */
export function drawBarb(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  speed_kt: number,
  from_deg: number,
  isSouthern: boolean,
  length = 24,
): void {
  const { pennants, full, half } = feathers(speed_kt);
  context.beginPath();
  if (pennants + full === 0 && !half) {
    context.arc(x, y, 4, 0, 2 * Math.PI);
    context.stroke();
    return;
  }
  context.save();
  context.translate(x, y);
  context.rotate((from_deg * Math.PI) / 180);
  // Upwards is where the wind comes from. In the north the feathers point to the lower pressure, which is on
  // the left of who has the wind in the back: clockwise of the shaft.
  const side = isSouthern ? -1 : 1;
  const reach = length * REACH * side;
  context.moveTo(0, 0);
  context.lineTo(0, -length);
  let at = -length;
  for (let count = 0; count < pennants; count += 1) {
    context.moveTo(0, at);
    context.lineTo(reach, at + SPACING * 0.2);
    context.lineTo(0, at + SPACING * 1.3);
    at += SPACING * 1.7;
  }
  for (let count = 0; count < full; count += 1) {
    context.moveTo(0, at);
    context.lineTo(reach, at - SPACING * 0.9);
    at += SPACING;
  }
  if (half) {
    if (pennants + full === 0) at += SPACING;
    context.moveTo(0, at);
    context.lineTo(reach / 2, at - SPACING * 0.45);
  }
  context.stroke();
  if (pennants > 0) {
    context.fillStyle = context.strokeStyle;
    context.fill();
  }
  context.restore();
}
