// What the package takes and what plain loops of JavaScript take for the same results, in
// milliseconds: medians. No imports, so that the same code runs in Node and in a browser.

const encoding = { scale: 0.01, offset: 273.15, nodata: -32768 };
const stops = [
  { value: 233.15, rgba: [130, 22, 146, 255] },
  { value: 253.15, rgba: [32, 73, 190, 255] },
  { value: 273.15, rgba: [210, 240, 250, 255] },
  { value: 293.15, rgba: [250, 220, 90, 255] },
  { value: 313.15, rgba: [160, 20, 30, 255] },
];

/** The median of many runs. */
function median(runs, run) {
  const times = Array.from({ length: runs + 2 }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  // The first two compile.
  const sorted = times.slice(2).sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Bytes of a field that changes smoothly, with some pixels without a value. */
function tileOf(values) {
  const raw = Int16Array.from({ length: values }, (_, at) =>
    at % 97 === 0 ? encoding.nodata : Math.round(3000 * Math.sin(at / 900) + 1500 * Math.cos(at / 37)),
  );
  return new Uint8Array(raw.buffer);
}

function decodeLoop(bytes, { scale, offset, nodata }) {
  const raw = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  const values = new Float64Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) {
    values[at] = raw[at] === nodata ? NaN : raw[at] * scale + offset;
  }
  return values;
}

/** Decodes and colours value by value, as one writes it. */
function paintLoop(bytes, { scale, offset, nodata }) {
  const raw = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  const pixels = new Uint8ClampedArray(4 * raw.length);
  const last = stops.length - 1;
  for (let at = 0; at < raw.length; at += 1) {
    if (raw[at] === nodata) {
      continue;
    }
    const value = raw[at] * scale + offset;
    let above = 0;
    while (above <= last && stops[above].value <= value) {
      above += 1;
    }
    const [from, to] = [stops[Math.max(above - 1, 0)], stops[Math.min(above, last)]];
    const part = from === to ? 0 : (value - from.value) / (to.value - from.value);
    for (let channel = 0; channel < 4; channel += 1) {
      const first = from.rgba[channel];
      pixels[4 * at + channel] = Math.round(first + (to.rgba[channel] - first) * part);
    }
  }
  return pixels;
}

/** The same by a table of the colours of all integers, as one writes it for speed. */
function paintTable(bytes, table) {
  const raw = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  const pixels = new Uint32Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) {
    pixels[at] = table[raw[at]];
  }
  return new Uint8ClampedArray(pixels.buffer);
}

function asOfLoop(tsMs, value, offsets, grid) {
  const series = offsets.length - 1;
  const positions = Math.ceil((grid.endMs - grid.startMs) / (grid.stepMinutes * 60_000)) + 1;
  const cells = series * positions;
  const filled = { value: new Float64Array(cells), ageMs: new Float64Array(cells), reading: new Int32Array(cells) };
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
export function measure(mesonet) {
  const rows = [];
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
    rows.push({
      what: `bytes to RGBA, ${side} × ${side}`,
      loop: median(runs, () => paintLoop(bytes, encoding)),
      table: median(runs, () => paintTable(bytes, table)),
      package: median(runs, () => colours.paint(bytes)),
      resident: median(runs, () => room.paint(colours)),
    });
    rows.push({
      what: `bytes to values, ${side} × ${side}`,
      loop: median(runs, () => decodeLoop(bytes, encoding)),
      package: median(runs, () => decodeTile(bytes, encoding)),
      resident: median(runs, () => room.decode(encoding)),
    });
    room.free();
  }
  rows.push({ what: "table of colours", package: median(20, () => tileColours(encoding, stops).free()) });
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
  rows.push({
    what: `as-of grid, ${series} × ${readings} × 10`,
    loop: median(10, () => asOfLoop(tsMs, value, offsets, grid)),
    package: median(10, once),
    resident: median(10, () => table.resample(grid)),
  });
  table.free();
  return rows;
}

/** The rows as a table of Markdown, with the speed-up of the package over the loop. */
export function markdown(rows) {
  const ways = ["loop", "table", "package", "resident"];
  const ms = (value) => (value === undefined ? "" : value < 10 ? value.toFixed(2) : value.toFixed(0));
  const lines = rows.map((row) => `| ${[row.what, ...ways.map((way) => ms(row[way]))].join(" | ")} |`);
  return [
    "| ms | loop in JavaScript | with a table | package | package, resident |",
    "| --- | --- | --- | --- | --- |",
    ...lines,
  ].join("\n");
}
