// The checks of neighbours.
import assert from "node:assert/strict";
import { test } from "node:test";

import { MesonetError, load } from "mesonet/network";

const { BaseQuality, checkNetwork, checkStation } = await load();

const air = (value, more = {}) => ({
  variable: "airTemperature",
  intervalType: "Instantaneous",
  intervalMinutes: 0,
  tsMs: Float64Array.of(0),
  value: Float64Array.of(value),
  ...more,
});
// Seven stations in a row, 10 km apart.
const row = (values) =>
  values.map((value, at) => ({
    site: { lon: -100, lat: 45 + 0.09 * at, altitudeM: 200 },
    series: [air(value)],
  }));

test("a value far from those of all neighbours is Doubtful, alone it is Good", () => {
  const network = row([20, 20.5, 19.5, 32, 20, 20.5, 19]);
  const bases = checkNetwork(network).map(([{ base }]) => base[0]);
  const { Doubtful, Good } = BaseQuality;
  assert.deepEqual([bases[2], bases[3]], [Good, Doubtful]);
  const { site, series } = network[3];
  assert.equal(checkStation(site, series)[0].base[0], Good);
});

test("verdicts stand by station and series, in the order given", () => {
  const [one, other] = row([20, 20]);
  const humidity = air(50, { variable: "relativeHumidity", tsMs: Float64Array.of(0, 60_000), value: Float64Array.of(50, NaN) });
  const verdicts = checkNetwork([{ ...one, series: [] }, { ...other, series: [humidity, air(140)] }]);
  assert.deepEqual(verdicts.map((of) => of.map(({ base }) => [...base])), [
    [],
    [[BaseQuality.Unknown, BaseQuality.Missing], [BaseQuality.Error]].map((of, at) =>
      at === 0 ? [verdicts[1][0].base[0], BaseQuality.Missing] : of,
    ),
  ]);
  assert.deepEqual(checkNetwork([]), []);
});

const [station] = row([20]);
const refused = [
  [
    () => checkNetwork([{ ...station, series: [air(1), air(2)] }]),
    "station 0: series 1 has the key of one before it",
  ],
  [
    () => checkNetwork([station, { ...station, series: [air(1, { tsMs: Float64Array.of(0.5) })] }]),
    "station 1: series 0: tsMs must be whole milliseconds; reading 0 is 0.5",
  ],
  [
    () => checkNetwork([{ ...station, series: [air(1, { value: new Float64Array(2) })] }]),
    "station 0: series 0: array lengths must match; got 1 for times, 2 for values",
  ],
  [
    () => checkNetwork([{ site: { lon: 0, lat: 91 }, series: [] }]),
    "latitude must be from -90 to 90; got 91",
  ],
];
for (const [call, message] of refused) {
  test(`refused: ${message}`, () => {
    assert.throws(call, (error) => {
      assert.ok(error instanceof MesonetError);
      assert.equal(error.message, message);
      return true;
    });
  });
}

const wrongClass = [
  [() => checkNetwork(station), "stations must be an array; got Object"],
  [() => checkNetwork([{ series: [] }]), "station 0: site must be an object; got undefined"],
  [() => checkNetwork([{ site: station.site }]), "station 0: series must be an array; got undefined"],
  [() => checkNetwork([station], 1), "limitsToml must be a string; got number"],
];
for (const [call, message] of wrongClass) {
  test(`a wrong class: ${message}`, () => {
    assert.throws(call, { name: "TypeError", message });
  });
}
