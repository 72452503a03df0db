// The golden vectors against the JavaScript package. Each function takes the package and one file,
// throws at the first difference and returns how many cases it ran. No imports, so that the same
// code runs in Node and in a browser.

/** A number; null is NaN, "inf" and "-inf" are infinite. */
const number = (value) =>
  ({ inf: Infinity, "-inf": -Infinity })[value] ?? (value === null ? NaN : value);
const numbers = (values) => Float64Array.from(values, number);
const encoding = ({ encoding: { scale, offset, nodata } }) => ({
  scale: number(scale),
  offset: number(offset),
  nodata,
});
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

function assertEqual(got, wanted, name) {
  const [one, other] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (one !== other) {
    throw new Error(`${name}: got ${one}, wanted ${other}`);
  }
}

function assertClose(got, wanted, tolerance, name) {
  assertEqual(got.length, wanted.length, name);
  got.forEach((value, at) => {
    const equal = value === wanted[at] || (Number.isNaN(value) && Number.isNaN(wanted[at]));
    if (!equal && !(Math.abs(value - wanted[at]) <= tolerance)) {
      throw new Error(`${name}: got ${value}, wanted ${wanted[at]}`);
    }
  });
}

function assertRefuses(mesonet, run, message, name) {
  try {
    run();
  } catch (error) {
    if (!(error instanceof mesonet.MesonetError)) {
      throw error;
    }
    return assertEqual(error.message, message, name);
  }
  throw new Error(`${name}: was not refused`);
}

export function qualityRanking(mesonet, file) {
  assertEqual(Object.keys(mesonet.BaseQuality), file.base, "base");
  assertEqual(Object.values(mesonet.BaseQuality), [...file.base.keys()], "base");
  assertEqual(Object.keys(mesonet.ReasonQuality), file.reason, "reason");
  assertEqual(Object.values(mesonet.ReasonQuality), [...file.reason.keys()], "reason");
  let ran = 2;
  for (const { name, codes, worst, distinct } of file.worst) {
    const asBytes = Uint8Array.from(codes, (code) => mesonet.BaseQuality[code]);
    for (const given of [codes, asBytes, [...asBytes]]) {
      assertEqual(mesonet.worst(given), worst, name);
      assertEqual(mesonet.distinctWorstFirst(given), distinct, name);
    }
    ran += 1;
  }
  for (const { name, codes, message } of file.refused) {
    assertRefuses(mesonet, () => mesonet.worst(codes), message, name);
    assertRefuses(mesonet, () => mesonet.distinctWorstFirst(codes), message, name);
    if (codes.every(Number.isInteger)) {
      assertRefuses(mesonet, () => mesonet.worst(Uint8Array.from(codes)), message, name);
    }
    ran += 1;
  }
  return ran;
}

export function tile(mesonet, file) {
  let ran = 0;
  for (const one of file.decode) {
    const [raw, data, wanted] = [Int16Array.from(one.raw), bytes(one.bytes), numbers(one.values)];
    for (const given of [raw, data, data.buffer]) {
      const got = mesonet.decodeTile(given, encoding(one));
      assertClose(got, wanted, one.tolerance, one.name);
    }
    ran += 1;
  }
  for (const one of file.encode) {
    const raw = mesonet.encodeTile(numbers(one.values), encoding(one));
    assertEqual([...raw], one.raw, one.name);
    ran += 1;
  }
  for (const one of file.refused) {
    const run = () => mesonet.decodeTile(bytes(one.bytes), encoding(one));
    assertRefuses(mesonet, run, one.message, one.name);
    ran += 1;
  }
  return ran;
}

export function windRotation(mesonet, file) {
  let ran = 0;
  for (const { name, cos, sin } of file.factors) {
    const off = Math.abs(Math.hypot(cos, sin) - 1);
    assertClose([off], [0], file.unit_length_tolerance, name);
    assertEqual(mesonet.rotateWind({ cos, sin }, 1, 0), { u: cos, v: -sin }, name);
    assertEqual(mesonet.rotateWind({ cos, sin }, 0, 1), { u: sin, v: cos }, name);
    ran += 1;
  }
  const column = (key) => numbers(file.winds.map((wind) => wind[key]));
  const factors = { cos: column("cos"), sin: column("sin") };
  const together = mesonet.rotateWind(factors, column("u"), column("v"));
  file.winds.forEach((wind, at) => {
    const wanted = numbers([wind.u_true, wind.v_true]);
    const rotation = { cos: wind.cos, sin: wind.sin };
    const one = mesonet.rotateWind(rotation, number(wind.u), number(wind.v));
    const many = mesonet.rotateWind(rotation, numbers([wind.u]), numbers([wind.v]));
    const pairs = [
      [one.u, one.v],
      [many.u[0], many.v[0]],
      [together.u[at], together.v[at]],
    ];
    for (const got of pairs) {
      assertClose(got, wanted, wind.tolerance, wind.name);
    }
    ran += 1;
  });
  return ran;
}

/** The runner of each file. */
export const RUNNERS = {
  "quality_ranking.json": qualityRanking,
  "tile.json": tile,
  "wind_rotation.json": windRotation,
};
