// The golden vectors on the JavaScript package. Each function takes the package and one file,
// throws at the first difference and returns how many cases it ran. No imports, so that the same
// code runs in Node and in a browser.

/** Returns a number; null is NaN, "inf" and "-inf" are infinite. */
const number = (value) =>
  ({ inf: Infinity, "-inf": -Infinity })[value] ?? (value === null ? NaN : value);
const numbers = (values) => Float64Array.from(values, number);
const encoding = ({ encoding: { scale, offset, nodata } }) => ({
  scale: number(scale),
  offset: number(offset),
  nodata,
});
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** As text, with the members of objects by name: files of vectors are written so. */
function textOf(value) {
  const byName = (_, of) =>
    of && typeof of === "object" && !Array.isArray(of) && !ArrayBuffer.isView(of)
      ? Object.fromEntries(Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1)))
      : of;
  return JSON.stringify(value, byName);
}

function assertEqual(got, wanted, name) {
  const [one, other] = [textOf(got), textOf(wanted)];
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

/** Checks equality to the bit if the tolerance is 0 (-0 equals 0), else closeness. */
function assertExpected(got, { expected }, tolerance, name) {
  const values = typeof got === "number" ? [got] : [...got];
  assertClose(values, values.map(() => number(expected)), tolerance, name);
}

export function units(mesonet, file) {
  const { convert, resolveUnit, toCanonical } = mesonet;
  let ran = 0;
  for (const section of ["conversions", "liquid_water"]) {
    for (const one of file[section]) {
      const [value, name] = [number(one.value), JSON.stringify(one)];
      for (const liquidWater of section === "conversions" ? [false, true] : [true]) {
        const run = (values) => convert(values, one.from, one.to, { liquidWater });
        assertExpected(run(value), one, one.tolerance, name);
        assertExpected(run(new Float64Array(9).fill(value)), one, one.tolerance, name);
        const wanted = Math.fround(number(one.expected));
        const near = Math.abs(wanted) * 2 ** -22 + 1e-5;
        const singles = run(new Float32Array(9).fill(value));
        assertEqual(singles.constructor.name, "Float32Array", name);
        assertClose([...singles], new Array(9).fill(wanted), near, name);
      }
      ran += 1;
    }
  }
  for (const one of file.refused) {
    const run = () => convert(new Float64Array(0), one.from, one.to);
    assertRefuses(mesonet, run, one.message, one.name);
    ran += 1;
  }
  const shown = (symbol) => symbol || "1";
  for (const one of file.resolutions) {
    const got = resolveUnit(one.text, one.vocabulary ?? undefined);
    const { exact, ambiguous, unknown } = one;
    const wanted = exact ?? ambiguous ?? unknown;
    const found = {
      exact: () => shown(got.unit),
      ambiguous: () => got.units.map(shown),
      unknown: () => true,
    };
    assertEqual(found[got.state](), wanted, JSON.stringify(one));
    assertEqual(got.state in one, true, JSON.stringify(one));
    ran += 1;
  }
  for (const one of file.canonical) {
    const [value, name] = [number(one.value), JSON.stringify(one)];
    for (const given of [value, new Float64Array(9).fill(value)]) {
      const got = toCanonical(one.variable, given, one.unit, one.vocabulary ?? undefined);
      assertExpected(got.values, one, 0, name);
      assertEqual(got.unit, one.expectedUnit, name);
    }
    ran += 1;
  }
  return ran;
}

export function derived(mesonet, file) {
  const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  const FUNCTIONS = { wind_at_10m: "windAt10m" };
  const together = new Map();
  let ran = 0;
  for (const one of file.derived) {
    const formula = mesonet[FUNCTIONS[one.function] ?? camel(one.function)];
    const [inputs, name] = [one.inputs.map(number), JSON.stringify(one)];
    const got = formula(...inputs);
    const power = 10 ** (one.decimals ?? 0);
    // Math.round rounds halves up; these are rounded away from zero.
    const rounded = (Math.sign(got) * Math.round(Math.abs(got) * power)) / power;
    const compared = one.decimals === undefined ? got : rounded;
    assertExpected(compared, one, one.tolerance ?? 0, name);
    together.set(formula, [...(together.get(formula) ?? []), { inputs, got }]);
    ran += 1;
  }
  for (const [formula, cases] of together) {
    const columns = cases[0].inputs.map((_, at) => numbers(cases.map(({ inputs }) => inputs[at])));
    const wanted = cases.map(({ got }) => got);
    assertClose([...formula(...columns)], wanted, 0, "as arrays");
  }
  return ran;
}

/** Through the entry that has them: every number by its bits; what others published within the tolerance. */
export function nativeGrid(mesonet, file) {
  const same = (got, of, keys) => {
    for (const key of keys) {
      if (!Object.is(got[key], number(of[key]))) {
        throw new Error(`${JSON.stringify(of)}: got ${key} ${got[key]}`);
      }
    }
  };
  const near = (got, { published }, keys, name) => {
    if (published !== undefined && keys[0] in published) {
      assertClose(keys.map((key) => got[key]), keys.map((key) => published[key]), file.tolerance, name);
    }
  };
  const many = (of) => Object.fromEntries(Object.entries(of).map(([key, value]) => [key, value[0]]));
  const grids = {};
  for (const { name, definition, proj, x, y } of file.grids) {
    const grid = mesonet.nativeGrid(definition);
    assertEqual([grid.rows, grid.columns], [definition.rows, definition.columns], name);
    assertEqual(grid.projString, proj, name);
    same(grid.firstXy, [x, y], [0, 1]);
    grids[name] = grid;
  }
  for (const one of file.cells) {
    const [grid, name] = [grids[one.grid], JSON.stringify(one)];
    const cells = { row: Uint32Array.of(one.row), column: Uint32Array.of(one.column) };
    for (const got of [grid.position(one), many(grid.position(cells))]) {
      same(got, one, ["lat", "lon"]);
      near(got, one, ["lat", "lon"], name);
    }
    for (const got of [grid.windRotation(one), many(grid.windRotation(cells))]) {
      same(got, one, ["cos", "sin"]);
      near(got, one, ["cos", "sin"], name);
    }
  }
  for (const one of file.places) {
    const [grid, name] = [grids[one.grid], JSON.stringify(one)];
    const at = { lat: numbers([one.lat]), lon: numbers([one.lon]) };
    for (const got of [grid.locate(one), many(grid.locate(at))]) {
      same(got, one, ["row", "column"]);
      near(got, one, ["row", "column"], name);
    }
    for (const nearest of [() => grid.nearest(one), () => many(grid.nearest(at))]) {
      if (one.message === undefined) {
        const { row, column } = nearest();
        assertEqual([row, column], one.nearest, name);
      } else {
        assertRefuses(mesonet, nearest, one.message, name);
      }
    }
  }
  for (const { definition, message } of file.refused) {
    assertRefuses(mesonet, () => mesonet.nativeGrid(definition), message, message);
  }
  for (const one of file.refused_cells) {
    const grid = grids[one.grid];
    assertRefuses(mesonet, () => grid.position(one), one.message, one.message);
    assertRefuses(mesonet, () => grid.windRotation(one), one.message, one.message);
  }
  for (const one of file.refused_places) {
    const grid = grids[one.grid];
    assertRefuses(mesonet, () => grid.locate(one), one.message, one.message);
    assertRefuses(mesonet, () => grid.nearest(one), one.message, one.message);
  }
  const sections = ["grids", "cells", "places", "refused", "refused_cells", "refused_places"];
  return sections.reduce((ran, section) => ran + file[section].length, 0);
}

/** The time grid: values by their bits, of the module's functions and of a table that stays in it. */
export function timeGrid(mesonet, file) {
  const same = (got, wanted, name) => {
    assertEqual(got.length, wanted.length, name);
    wanted.forEach((value, at) => {
      if (!Object.is(got[at], value)) {
        throw new Error(`${name}: got ${got[at]} at ${at}, wanted ${value}`);
      }
    });
  };
  const gridOf = ({ start_ms, end_ms, step, max_age_ms }) => ({
    ...{ startMs: start_ms, endMs: end_ms, stepMinutes: step },
    ...(max_age_ms !== null && { maxAgeMs: max_age_ms }),
  });
  let ran = 0;
  for (const { name, stations, names, caps, used, positions, coarsening, ...window } of file.plan) {
    const [cells, most] = caps;
    const grid = { startMs: window.start_ms, endMs: window.end_ms, stepMinutes: window.step };
    const plan = mesonet.planGrid({ ...grid, stations, names, caps: { cells, positions: most } });
    assertEqual([plan.stepMinutes, plan.tsMs.length], [used, positions], name);
    assertEqual(plan.coarsening ?? null, coarsening, name);
    ran += 1;
  }
  for (const one of file.resample) {
    const [tsMs, values] = [Float64Array.from(one.ts_ms), numbers(one.values)];
    const [offsets, grid] = [Uint32Array.from(one.offsets), gridOf(one)];
    const table = mesonet.seriesTable(tsMs, values, offsets);
    for (const got of [mesonet.resample(tsMs, values, { ...grid, offsets }), table.resample(grid)]) {
      assertEqual([...got.reading], one.reading, one.name);
      same(got.value, numbers(one.filled), one.name);
      same(got.ageMs, numbers(one.age_ms), one.name);
    }
    table.free();
    ran += 1;
  }
  for (const one of file.pick) {
    const candidates = one.candidates.map((times) => Float64Array.from(times));
    const { series, reading } = mesonet.pickSeries(candidates, gridOf(one));
    assertEqual([[...series], [...reading]], [one.series, one.reading], one.name);
    ran += 1;
  }
  for (const { name, start_ms, end_ms, now_ms, plan, refused } of file.lookback) {
    const run = () => mesonet.checkLookback(start_ms, end_ms, plan, now_ms);
    if (refused === null) {
      run();
    } else {
      assertRefuses(mesonet, run, refused, name);
    }
    ran += 1;
  }
  for (const { name, ts_ms, values, offsets, message } of file.refused) {
    const columns = [Float64Array.from(ts_ms), numbers(values)];
    const grid = { startMs: 0, endMs: 60_000, stepMinutes: 1, offsets: Uint32Array.from(offsets) };
    assertRefuses(mesonet, () => mesonet.resample(...columns, grid), message, name);
    assertRefuses(mesonet, () => mesonet.seriesTable(...columns, grid.offsets), message, name);
    ran += 1;
  }
  return ran;
}

/** Runs the quality checks' flags of other schemes, which the entries without the checks have. */
export function crosswalks(mesonet, file) {
  let ran = 0;
  for (const { scheme, flag, base, written } of file.crosswalks) {
    const name = `${scheme} ${flag}`;
    assertEqual(mesonet[scheme].quality(flag).base, base, name);
    assertEqual(mesonet[scheme].flag(base) ?? null, written, name);
    ran += 1;
  }
  return ran;
}

/** Runs the rest of the quality checks, through the entry that has them. */
export function checks({ BaseQuality, MesonetError, ReasonQuality, checkStation, explain }, file) {
  const codes = (verdicts) => {
    const pairs = verdicts.map((verdict) => verdict.split("/"));
    return {
      base: Uint8Array.from(pairs, ([base]) => BaseQuality[base]),
      reason: Uint8Array.from(pairs, ([, reason]) => ReasonQuality[reason]),
    };
  };
  const readings = ({ start, minutes, values, source, verdicts, ...key }) => ({
    ...key,
    tsMs: Float64Array.from(minutes, (minute) => Date.parse(start) + minute * 60_000),
    value: numbers(values),
    ...(source && codes(source)),
  });
  assertEqual(file.tolerance, 0, "tolerance");
  let ran = 0;
  for (const one of file.stations) {
    const site = { lon: one.site.longitude, lat: one.site.latitude, altitudeM: one.site.altitudeM };
    const series = one.series.map(readings);
    const got = checkStation(site, series, one.limits);
    assertEqual(got.length, one.series.length, one.name);
    one.series.forEach(({ verdicts }, which) => {
      assertEqual(got[which], codes(verdicts), one.name);
      verdicts.forEach((wanted, at) => {
        const { baseQuality, reasonQuality } = explain(site, series, which, at, one.limits).verdict;
        assertEqual(`${baseQuality}/${reasonQuality}`, wanted, one.name);
      });
    });
    ran += 1;
  }
  for (const { name, limits, message } of file.refused) {
    assertRefuses({ MesonetError }, () => checkStation({ lon: 0, lat: 0 }, [], limits), message, name);
    ran += 1;
  }
  return ran;
}

/** The files that the cases of alerts read, by their paths below tests/data. */
export const alertFiles = ({ chains, many }) => [...chains, ...many].flatMap(({ files }) => files);

/** Official alerts, through the entry that has them. `contents` are the files, unpacked, by their paths. */
export function alerts({ MesonetError, readCap, readNwsAlerts }, file, contents) {
  const READERS = { cap: readCap, "nws-alerts": readNwsAlerts };
  const sum = (of, key) => of.reduce((all, one) => all + one[key], 0);
  const positionsOf = (geometries) => {
    const sums = [0, 0, 0];
    for (const geometry of geometries.filter((geometry) => geometry !== null)) {
      const { type, coordinates } = geometry;
      for (const [lon, lat] of (type === "Polygon" ? [coordinates] : coordinates).flat(2)) {
        sums[0] += 1;
        sums[1] += lon;
        sums[2] += lat;
      }
    }
    return sums;
  };
  const told = ({ id, geometry, properties }) => ({
    ...{ id, status: properties.status, headline: properties.alertHeadline },
    ...{ event_codes: properties.eventCodes ?? {}, same_codes: properties.sameCodes ?? [] },
    areas: (properties.areas ?? []).slice(0, 12).map((area) => [area.clcCode ?? area.ugcCode ?? null, area.status]),
    geometry: geometry && geometry.type,
    positions: geometry && positionsOf([geometry]),
  });
  let ran = 0;
  for (const { name, reader, files, read, refused, ids, states, features, collection } of file.chains) {
    const of = files.map((path) => contents[path]);
    const chain = READERS[reader](of);
    assertEqual([sum(chain.files, "read"), sum(chain.files, "refused")], [read, refused], name);
    assertEqual(chain.messages().map(({ id }) => id), ids, name);
    for (const { at_ms, of } of states) {
      const got = chain.states({ atMs: at_ms });
      assertEqual(got.map(({ id }) => id), ids, name);
      const pairs = got.map(({ status, nextIds }) => [status, nextIds.map((id) => ids.indexOf(id))]);
      assertEqual(pairs, of, `${name} at ${at_ms}`);
    }
    for (const { at_ms, of, place, ...conditions } of features) {
      const at = place && { place: { lon: place[0], lat: place[1] } };
      const { type, features } = chain.toGeoJSON({ atMs: at_ms, ...conditions, ...at });
      assertEqual([type, features.map(told)], ["FeatureCollection", of], `${name} at ${at_ms}`);
    }
    if (collection !== undefined) {
      assertEqual(chain.toGeoJSON({ atMs: collection.at_ms }), collection.of, name);
    }
    // As texts, in another order and twice: the same alerts.
    const texts = of.map((bytes) => new TextDecoder().decode(bytes));
    const again = READERS[reader]([...texts.reverse(), ...of]);
    assertEqual(again.states({ atMs: 0 }), chain.states({ atMs: 0 }), name);
    again.free();
    chain.free();
    ran += 1;
  }
  for (const { name, reader, files, read, refused, tally } of file.many) {
    const all = READERS[reader](files.map((path) => contents[path]));
    assertEqual([sum(all.files, "read"), sum(all.files, "refused")], [read, refused], name);
    for (const { at_ms, statuses, active, without_outline, positions } of tally) {
      const counted = {};
      for (const { status } of all.states({ atMs: at_ms })) {
        counted[status] = (counted[status] ?? 0) + 1;
      }
      assertEqual(Object.entries(counted).sort(), Object.entries(statuses), name);
      const geometries = all.toGeoJSON({ atMs: at_ms, active: true }).features.map(({ geometry }) => geometry);
      assertEqual(geometries.length, active, name);
      assertEqual(geometries.filter((geometry) => geometry === null).length, without_outline, name);
      assertEqual(positionsOf(geometries), positions, name);
    }
    all.free();
    ran += 1;
  }
  for (const { name, reader, content, message } of file.refused) {
    assertRefuses({ MesonetError }, () => READERS[reader](content), message, name);
    ran += 1;
  }
  for (const { name, content, refusals } of file.left_out) {
    const none = readCap(content);
    assertEqual([none.messages(), none.files[0].refusals], [[], refusals], name);
    none.free();
    ran += 1;
  }
  return ran;
}

/** How many cases of a file the runners of an entry run: only the flags of the checks' file. */
export const casesOf = (file) => file.crosswalks?.length ?? file.cases;
/** How many cases of the checks' file are not flags. */
export const checksOf = (file) => file.cases - file.crosswalks.length;

/** The runner of each file, for the entries without the checks. */
export const RUNNERS = {
  "checks.json": crosswalks,
  "derived.json": derived,
  "quality_ranking.json": qualityRanking,
  "tile.json": tile,
  "time_grid.json": timeGrid,
  "units.json": units,
  "wind_rotation.json": windRotation,
};

/** The places of names, with their names. */
const named = (names, places) => Array.from(places, (place) => names[place]);

/** How many single reports a file has, those that are refused among them. */
export const reportsOf = ({ reports, refused }) => reports.length + refused.length;

/** Single reports by their groups, without their dates. */
export function groupsOfReports(mesonet, file) {
  for (const { name, text, members } of file.reports) {
    const report = mesonet.parseMetar(text);
    for (const [path, wanted] of Object.entries(members)) {
      const got = path.split(".").reduce((of, member) => of[member], report);
      assertEqual(got, wanted, `${name}: ${path}`);
    }
  }
  for (const { name, text, message } of file.refused) {
    assertRefuses(mesonet, () => mesonet.parseMetar(text), message, name);
  }
  return reportsOf(file);
}

export function metar(mesonet, file) {
  let ran = groupsOfReports(mesonet, file);
  for (const { name, text, received_ms: receivedMs, ts_ms: tsMs = null } of file.reports) {
    assertEqual(mesonet.parseMetar(text, receivedMs === undefined ? {} : { receivedMs }).tsMs, tsMs, name);
  }
  for (const one of file.files) {
    const of = mesonet.readMetars(one.content, { receivedMs: one.received_ms });
    const columns = [
      named(of.stations, of.station),
      of.tsMs,
      named(of.variables, of.variable),
      named(of.intervalTypes, of.intervalType),
      of.intervalMinutes,
      of.value,
      named(of.units, of.unit),
      Array.from(of.qualifier, (code) => of.qualifiers[code - 1] ?? null),
      named(of.buckets, of.bucket),
      Array.from(of.calculated, (calculated) => calculated === 1),
    ];
    const readings = Array.from({ length: of.length }, (_, row) => columns.map((column) => column[row]));
    assertEqual(readings, one.readings, one.name);
    assertEqual([of.kind, of.read, of.refusals], [one.kind, one.read, one.refusals], one.name);
    const place = one.place ?? [NaN, NaN, NaN];
    for (const [at, column] of [of.lat, of.lon, of.altitudeM].entries()) {
      assertClose(column, Float64Array.from(column, () => place[at]), 0, one.name);
    }
    ran += 1;
  }
  return ran;
}
