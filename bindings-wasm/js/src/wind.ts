import { float64Array, isClass, number, object } from "./check.js";
import { refusing } from "./error.js";
import type { Raw } from "./raw.js";

/** Rotation of a grid's axes against true north, at one cell or at each. */
export interface Rotation<T extends number | Float64Array = number> {
  readonly cos: T;
  readonly sin: T;
}

/** Wind components towards the east and the north, in the unit of the input. */
export interface Wind<T extends number | Float64Array = number> {
  u: T;
  v: T;
}

/** Winds between a grid's axes and true north. */
export interface WindFunctions {
  /** Earth-relative components of one grid-relative wind: `cos·u + sin·v`, `−sin·u + cos·v`. */
  rotateWind(rotation: Rotation, u: number, v: number): Wind;
  /**
   * The same for many winds at one cell; or, with arrays of factors, each wind by its own factors.
   * NaN stays NaN, and the given arrays are not changed.
   *
   * @throws {MesonetError} for arrays of different lengths.
   */
  rotateWind(
    rotation: Rotation | Rotation<Float64Array>,
    u: Float64Array,
    v: Float64Array,
  ): Wind<Float64Array>;
}

export function windFunctions(raw: Raw): WindFunctions {
  function rotateWind(rotation: Rotation, u: number, v: number): Wind;
  function rotateWind(
    rotation: Rotation | Rotation<Float64Array>,
    u: Float64Array,
    v: Float64Array,
  ): Wind<Float64Array>;
  function rotateWind(rotation: unknown, u: unknown, v: unknown): Wind<number | Float64Array> {
    const { cos, sin } = object(rotation, "rotation");
    if (typeof u === "number") {
      const one = { u: Float64Array.of(u), v: Float64Array.of(number(v, "v")) };
      raw.rotate(number(cos, "cos"), number(sin, "sin"), one.u, one.v);
      return { u: one.u[0]!, v: one.v[0]! };
    }
    // The module rotates in place, so it gets copies.
    const winds = { u: float64Array(u, "u").slice(), v: float64Array(v, "v").slice() };
    if (isClass(cos, "Float64Array")) {
      const factors = float64Array(sin, "sin");
      refusing(() => raw.rotate_field(cos, factors, winds.u, winds.v));
    } else {
      refusing(() => raw.rotate(number(cos, "cos"), number(sin, "sin"), winds.u, winds.v));
    }
    return winds;
  }
  return { rotateWind };
}
