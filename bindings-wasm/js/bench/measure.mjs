// What the package takes and what plain loops of JavaScript take for the same results, in
// milliseconds. No imports, so that the same code runs in Node and in a browser.

const encoding = { scale: 0.01, offset: 273.15, nodata: -32768 };
const stops = [
  { value: 233.15, rgba: [130, 22, 146, 255] },
  { value: 253.15, rgba: [32, 73, 190, 255] },
  { value: 273.15, rgba: [210, 240, 250, 255] },
  { value: 293.15, rgba: [250, 220, 90, 255] },
  { value: 313.15, rgba: [160, 20, 30, 255] },
];

/** How times are taken: a clock in milliseconds, and what is made of the times of many runs. */
const LEAST = { now: () => performance.now(), of: (times) => Math.min(...times) };

/** What a run takes, of many: by default the least, which it takes when nothing else has the processor. */
function timed(runs, run, { now, of } = LEAST) {
  // Clocks of browsers tick every tenth of a millisecond, so that short ones run many times.
  const times = Array.from({ length: runs < 100 ? runs + 2 : runs / 10 }, () => {
    const repeats = runs < 100 ? 1 : 20;
    const start = now();
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      run();
    }
    return (now() - start) / repeats;
  });
  return of(times);
}

/** Bytes of a field that changes smoothly, with some pixels without a value. */
function tileOf(values) {
  const raw = Int16Array.from({ length: values }, (_, at) =>
    at % 97 === 0 ? encoding.nodata : Math.round(3000 * Math.sin(at / 900) + 1500 * Math.cos(at / 37)),
  );
  return new Uint8Array(raw.buffer);
}

function decodeLoop(bytes, { scale, offset, nodata }, values = new Float64Array(bytes.length / 2)) {
  const raw = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  for (let at = 0; at < raw.length; at += 1) {
    values[at] = raw[at] === nodata ? NaN : raw[at] * scale + offset;
  }
  return values;
}

// The stops as columns: the loop below is twice as fast with them as with objects.
const last = stops.length - 1;
const stopValues = Float64Array.from(stops, ({ value }) => value);
const stopParts = Float64Array.from(stops.flatMap(({ rgba }) => rgba));

/** Decodes and colours value by value, as one writes it. */
function paintLoop(bytes, { scale, offset, nodata }) {
  const raw = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  const pixels = new Uint8ClampedArray(4 * raw.length);
  for (let at = 0; at < raw.length; at += 1) {
    if (raw[at] === nodata) {
      continue;
    }
    const value = raw[at] * scale + offset;
    let above = 0;
    while (above <= last && stopValues[above] <= value) {
      above += 1;
    }
    const from = above === 0 ? 0 : above - 1;
    const to = above > last ? last : above;
    const part = from === to ? 0 : (value - stopValues[from]) / (stopValues[to] - stopValues[from]);
    for (let channel = 0; channel < 4; channel += 1) {
      const first = stopParts[4 * from + channel];
      pixels[4 * at + channel] = Math.round(first + (stopParts[4 * to + channel] - first) * part);
    }
  }
  return pixels;
}

/** The same by a table of the colours of all integers, as one writes it for speed. */
function paintTable(bytes, table, pixels = new Uint32Array(bytes.length / 2)) {
  const raw = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  for (let at = 0; at < raw.length; at += 1) {
    pixels[at] = table[raw[at]];
  }
  return new Uint8ClampedArray(pixels.buffer);
}

/** Arrays for the cells of a grid. */
const cellsOf = (cells) => ({
  ...{ value: new Float64Array(cells), ageMs: new Float64Array(cells), reading: new Int32Array(cells) },
});

function asOfLoop(tsMs, value, offsets, grid, kept) {
  const series = offsets.length - 1;
  const positions = Math.ceil((grid.endMs - grid.startMs) / (grid.stepMinutes * 60_000)) + 1;
  const filled = kept ?? cellsOf(series * positions);
  for (let which = 0; which < series; which += 1) {
    for (let position = 0; position < positions; position += 1) {
      const at = Math.min(grid.startMs + position * grid.stepMinutes * 60_000, grid.endMs);
      let [low, high] = [offsets[which], offsets[which + 1]];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (tsMs[middle] <= at) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      const [cell, reading] = [which * positions + position, low - 1];
      const found = reading >= offsets[which];
      filled.value[cell] = found ? value[reading] : NaN;
      filled.ageMs[cell] = found ? at - tsMs[reading] : NaN;
      filled.reading[cell] = found ? reading : -1;
    }
  }
  return filled;
}

function same(one, other, what) {
  const equal = one.length === other.length && one.every((value, at) => Object.is(value, other[at]));
  if (!equal) {
    throw new Error(`${what}: the results differ`);
  }
}

/** Rows of a table: what it is, and milliseconds by way. */
export function measure(mesonet, timing = LEAST) {
  const rows = [];
  const time = (runs, run) => timed(runs, run, timing);
  const { decodeTile, resample, seriesTable, tileColours, tileRoom } = mesonet;
  const colours = tileColours(encoding, stops);
  for (const [side, runs] of [[256, 200], [3162, 5]]) {
    const values = side * side;
    const bytes = tileOf(values);
    const room = tileRoom(values);
    room.bytes.set(bytes);
    const table = new Uint32Array(
      colours.paint(new Uint8Array(Uint16Array.from({ length: 65536 }, (_, raw) => raw).buffer)).buffer,
    );
    same(colours.paint(bytes), paintLoop(bytes, encoding), "paint");
    same(colours.paint(bytes), paintTable(bytes, table), "table");
    same(colours.paint(bytes), room.paint(colours), "room.paint");
    same(decodeTile(bytes, encoding), decodeLoop(bytes, encoding), "decode");
    same(decodeLoop(bytes, encoding), room.decode(encoding), "room.decode");
    const [double, single] = [new Float64Array(values), new Float32Array(values)];
    const [pixels, words] = [new Uint8ClampedArray(4 * values), new Uint32Array(values)];
    same(decodeTile(bytes, encoding, { out: single }), decodeLoop(bytes, encoding, new Float32Array(values)), "single");
    same(single, room.decodeFloat32(encoding), "room.decodeFloat32");
    rows.push({
      what: `bytes to RGBA, ${side} × ${side}`,
      loop: time(runs, () => paintLoop(bytes, encoding)),
      table: time(runs, () => paintTable(bytes, table)),
      keptLoop: time(runs, () => paintTable(bytes, table, words)),
      package: time(runs, () => colours.paint(bytes)),
      kept: time(runs, () => colours.paint(bytes, { out: pixels })),
      resident: time(runs, () => room.paint(colours)),
    });
    rows.push({
      what: `bytes to values, ${side} × ${side}`,
      loop: time(runs, () => decodeLoop(bytes, encoding)),
      keptLoop: time(runs, () => decodeLoop(bytes, encoding, double)),
      package: time(runs, () => decodeTile(bytes, encoding)),
      kept: time(runs, () => decodeTile(bytes, encoding, { out: double })),
      resident: time(runs, () => room.decode(encoding)),
    });
    rows.push({
      what: `bytes to single precision, ${side} × ${side}`,
      keptLoop: time(runs, () => decodeLoop(bytes, encoding, single)),
      kept: time(runs, () => decodeTile(bytes, encoding, { out: single })),
      resident: time(runs, () => room.decodeFloat32(encoding)),
    });
    room.free();
  }
  rows.push({ what: "table of colours", package: time(100, () => tileColours(encoding, stops).free()) });
  colours.free();

  const [series, readings, minute] = [50_000, 72, 60_000];
  const grid = { startMs: 0, endMs: 9 * 60 * minute, stepMinutes: 60 };
  const offsets = Uint32Array.from({ length: series + 1 }, (_, which) => which * readings);
  // Every 8 minutes or so, each series at its own.
  const tsMs = Float64Array.from({ length: series * readings }, (_, at) =>
    Math.round(((at % readings) * 8 + (at % 7) - 3) * minute + (at % 1009)),
  );
  for (let at = 1; at < tsMs.length; at += 1) {
    if (at % readings !== 0 && tsMs[at] < tsMs[at - 1]) {
      tsMs[at] = tsMs[at - 1];
    }
  }
  const value = Float64Array.from(tsMs, (_, at) => at / 10);
  const once = () => resample(tsMs, value, { ...grid, offsets });
  const table = seriesTable(tsMs, value, offsets);
  const wanted = asOfLoop(tsMs, value, offsets, grid);
  for (const key of ["value", "ageMs", "reading"]) {
    same(once()[key], wanted[key], key);
    same(table.resample(grid)[key], wanted[key], key);
  }
  const out = cellsOf(series * 10);
  const minutes = Int32Array.from(tsMs, (ms) => Math.floor(ms / minute));
  const inMinutes = Float64Array.from(minutes, (at) => at * minute);
  same(resample(minutes, value, { ...grid, offsets }).value, asOfLoop(inMinutes, value, offsets, grid).value, "minutes");
  rows.push({
    what: `as-of grid, ${series} × ${readings} × 10`,
    loop: time(10, () => asOfLoop(tsMs, value, offsets, grid)),
    keptLoop: time(10, () => asOfLoop(tsMs, value, offsets, grid, out)),
    package: time(10, once),
    kept: time(10, () => resample(tsMs, value, { ...grid, offsets, out })),
    resident: time(10, () => table.resample({ ...grid, out })),
  });
  rows.push({
    what: "the same, times in minutes",
    kept: time(10, () => resample(minutes, value, { ...grid, offsets, out })),
  });
  table.free();
  return rows;
}

/** A lattice of the size of a national model's. */
const MODEL_GRID = {
  ...{ rows: 1059, columns: 1799, projection: "lambert_conformal", radius_m: 6371229 },
  ...{ origin_lat: 38.5, central_lon: 262.5, parallels: [38.5, 38.5], first_lon: 237.280472 },
  ...{ first_lat: 21.138123, column_step: 3000, row_step: 3000, grid_relative_winds: true },
};

/** Rows of a table: the same in this thread and by the workers of a pool, one of which is warm. */
export async function measurePool(mesonet, { nativeGrid }, pool) {
  const tile = tileOf(256 * 256);
  const large = tileOf(3162 * 3162);
  const colours = mesonet.tileColours(encoding, stops);
  const times = (count, run) => Array.from({ length: count }, run);
  const cases = {
    "256 tiles to RGBA, 256 × 256": [
      () => times(256, () => colours.paint(tile)),
      () => times(256, () => pool.paintTile(tile, encoding, stops)),
    ],
    "one tile to RGBA, 3162 × 3162": [
      () => [colours.paint(large)],
      () => [pool.paintTile(large, encoding, stops)],
    ],
    "centres of the cells of 4 grids, 1059 × 1799": [
      () => times(4, () => nativeGrid(MODEL_GRID).positions().lat),
      () => times(4, async () => (await pool.positions(MODEL_GRID)).lat),
    ],
  };
  const rows = [];
  for (const [what, [here, there]] of Object.entries(cases)) {
    const [wanted, got] = [here(), await Promise.all(there())];
    wanted.forEach((one, at) => same(one, got[at], what));
    const row = { what, here: timed(3, here), pool: Infinity, busy: Infinity };
    for (let run = 0; run < 5; run += 1) {
      const start = performance.now();
      const waits = there();
      row.busy = Math.min(row.busy, performance.now() - start);
      await Promise.all(waits);
      row.pool = Math.min(row.pool, performance.now() - start);
    }
    rows.push(row);
  }
  colours.free();
  return rows;
}

/** Rows as a table of Markdown. */
function table(rows, columns) {
  const ms = (value) => (value === undefined ? "" : value < 10 ? value.toFixed(3) : value.toFixed(0));
  const lines = rows.map((row) => `| ${[row.what, ...Object.keys(columns).map((way) => ms(row[way]))].join(" | ")} |`);
  const heads = ["ms", ...Object.values(columns)];
  return [`| ${heads.join(" | ")} |`, `| --- |${" ---: |".repeat(heads.length - 1)}`, ...lines].join("\n");
}

/** Both tables. */
export function markdown(engine, rows, ofPool, workers) {
  const ways = {
    ...{ loop: "loop in JavaScript", table: "with a table", keptLoop: "the faster, kept array" },
    ...{ package: "package", kept: "package, kept array", resident: "package, resident" },
  };
  const threads = { here: "this thread", pool: `pool of ${workers}`, busy: "to give the tasks" };
  return `${engine}:\n\n${table(rows, ways)}\n\n${table(ofPool, threads)}`;
}
