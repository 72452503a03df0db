// Compiled, not run: what the types allow, and (by ts-expect-error) what they do not.
import {
  BaseQuality,
  type BaseQualityName,
  MesonetError,
  decodeTile,
  encodeTile,
  rotateWind,
  worst,
} from "mesonet";
import { type Mesonet, load } from "mesonet/slim";

const name: BaseQualityName = worst(["Good", 3]);
const code: number = BaseQuality[name];
const values: Float64Array = decodeTile(new Uint8Array(2), { scale: 1, offset: 0, nodata: code });
const raw: Int16Array = encodeTile(values, { scale: 1, offset: 0, nodata: 0 });
const { u }: { u: number } = rotateWind({ cos: 1, sin: 0 }, 1, 2);
const many: Float64Array = rotateWind({ cos: values, sin: values }, values, values).v;
const slim: Promise<Mesonet> = load("/mesonet.wasm");
const error: RangeError = new MesonetError("");
export { error, many, raw, slim, u };

// @ts-expect-error: no such name
worst(["good"]);
// @ts-expect-error: not one text
const one: BaseQualityName = worst(6);
// @ts-expect-error: single precision
encodeTile(new Float32Array(1), { scale: 1, offset: 0, nodata: 0 });
// @ts-expect-error: nodata is missing
decodeTile(new Uint8Array(2), { scale: 1, offset: 0 });
// @ts-expect-error: a table of codes is constant
BaseQuality.Good = 1;
export { one };
