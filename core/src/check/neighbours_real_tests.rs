//! Real stations at one time, from the METAR tables of the test data, and the result of the check
//! for the first station of each: the values of the neighbours are interpolated to its time.

use super::super::Checker;
use super::*;
use crate::geo::LonLat;

/// Variable, whether the first station is wrong, and stations: id, longitude, latitude, altitude in
/// metres, value. The altitudes of KLXV, KGUC and KASE are those of mountain valleys above 2,300 m.
const CASES: &[(&str, bool, &str)] = &[
    // 2022-10-22T01:56:00Z
    (
        "mslp",
        true,
        "
        KSQI -89.670 41.750 196 992.8
        KCWI -90.320 41.820 212 1005.4
        KRFD -89.100 42.200 222 1006.0
        KDVN -90.580 41.620 227 1005.2
        KMLI -90.520 41.450 174 1004.8
        KARR -88.480 41.770 213 1007.0
        KDBQ -90.700 42.400 317 1004.9
        KDPA -88.250 41.880 228 1006.9
        KPIA -89.680 40.670 200 1006.7
        KORD -87.930 41.950 202 1006.6
        KPWK -87.900 42.120 194 1006.9
        KBMI -88.920 40.470 262 1008.4
        KMSN -89.350 43.130 262 1004.6
    ",
    ),
    // 2022-10-22T01:58:00Z
    (
        "mslp",
        true,
        "
        KPRN -86.620 31.850 137 1014.4
        KMGM -86.400 32.300 64 1019.4
        KTOI -86.020 31.850 120 1020.0
        K79J -86.400 31.320 93 1019.6
        KGZH -87.050 31.420 77 1019.6
        KMXF -86.370 32.380 47 1018.9
        KSXS -85.850 31.370 120 1019.8
        K0J4 -86.320 31.050 96 1020.5
        KLOR -85.750 31.350 92 1018.4
        KOZR -85.720 31.280 90 1019.9
        KHEY -85.650 31.350 95 1019.5
        KCEW -86.520 30.780 47 1020.3
        KDHN -85.450 31.320 113 1020.9
    ",
    ),
    // 2022-10-22T02:35:00Z
    (
        "mslp",
        true,
        "
        KATA -94.200 33.100 85 1002.0
        KTXK -93.980 33.450 118 1011.6
        KDTN -93.750 32.550 53 1013.1
        KBAD -93.670 32.500 49 1013.5
        KGGG -94.720 32.380 107 1012.3
        KDEQ -94.400 34.050 107 1010.8
        KELD -92.820 33.220 76 1012.9
        KPRX -95.450 33.630 165 1010.8
        KTYR -95.400 32.370 161 1011.8
        KADF -93.070 34.100 54 1012.4
        KMWT -93.580 34.550 220 1011.1
        KOCH -94.720 31.570 105 1014.6
        KHOT -93.100 34.480 153 1011.9
    ",
    ),
    // 2022-10-22T01:55:00Z
    (
        "mslp",
        true,
        "
        KCWN -104.850 38.750 2040 990.4
        KFCS -104.770 38.670 1789 1004.1
        KCOS -104.680 38.820 1886 1002.1
        KAFF -104.820 38.970 2003 1002.2
        KABH -104.300 38.750 1838 1004.9
        KPUB -104.500 38.280 1441 1002.6
        KAPA -104.850 39.570 1791 1003.6
        KBKF -104.750 39.720 1703 1002.2
        KLIC -103.670 39.270 1635 1004.3
        KDEN -104.650 39.850 1656 1000.8
        KLXV -106.320 39.230 3027 1008.6
        KLHX -103.520 38.050 1289 1002.2
        KTAD -104.330 37.270 1751 1004.7
    ",
    ),
    // 2022-10-22T18:55:00Z
    (
        "airTemperature",
        true,
        "
        KOAR -121.770 36.670 41 -1.0
        KMRY -121.850 36.580 51 16.7
        KSNS -121.600 36.670 20 17.8
        KWVI -121.780 36.930 47 17.8
        KCVH -121.420 36.900 68 19.0
        KE16 -121.600 37.080 84 20.0
        KRHV -121.820 37.330 37 19.0
        KSJC -121.920 37.370 13 20.6
        KNUQ -122.050 37.400 9 19.0
        KPAO -122.120 37.470 2 18.0
        KSQL -122.250 37.520 1 19.0
        KHAF -122.500 37.520 11 16.0
        KLVK -121.820 37.700 120 19.4
    ",
    ),
    // 2024-08-03T17:15:00Z
    (
        "barometricPressure",
        true,
        "
        KTNB -81.650 36.200 958 902.3
        KGEV -81.420 36.430 961 907.2
        KMRN -81.620 35.820 375 970.5
        KUKF -81.100 36.220 383 970.9
        K0A9 -82.170 36.370 479 958.9
        KHKY -81.380 35.750 357 972.6
        KVJI -82.030 36.680 636 941.9
        KTRI -82.400 36.480 456 961.8
        KSVH -80.950 35.750 286 980.9
        KMKJ -81.330 36.880 777 927.3
        KFQD -81.930 35.420 325 976.0
        KIPJ -81.170 35.480 266 982.9
        KHLX -80.820 36.770 819 921.4
    ",
    ),
    // 2022-10-22T01:53:00Z
    (
        "airTemperature",
        false,
        "
        KLXV -106.320 39.230 3027 4.4
        KCCU -106.150 39.480 3672 2.0
        KASE -106.870 39.230 2384 4.4
        KAEJ -106.120 38.820 2420 12.1
        K7BM -106.220 38.780 2996 7.0
        KEGE -106.920 39.630 1993 12.8
        K4BM -105.520 39.050 3432 2.0
        K0CO -105.770 39.800 3804 -1.0
        KANK -106.050 38.530 2293 12.5
        K20V -106.370 40.050 2259 10.0
        K5SM -107.380 39.430 3229 1.0
        KGUC -106.930 38.520 2337 8.9
        KC99 -105.550 39.870 3334 2.0
    ",
    ),
    // 2022-10-22T01:53:00Z
    (
        "barometricPressure",
        false,
        "
        KLXV -106.320 39.230 3027 702.1
        KCCU -106.150 39.480 3672 648.7
        KASE -106.870 39.230 2384 759.5
        KAEJ -106.120 38.820 2420 755.6
        K7BM -106.220 38.780 2996 704.6
        KEGE -106.920 39.630 1993 796.4
        K4BM -105.520 39.050 3432 667.9
        K0CO -105.770 39.800 3804 636.6
        KANK -106.050 38.530 2293 768.8
        K20V -106.370 40.050 2259 770.4
        K5SM -107.380 39.430 3229 686.4
        KGUC -106.930 38.520 2337 764.5
        KC99 -105.550 39.870 3334 674.4
    ",
    ),
    // 2022-10-22T01:56:00Z
    (
        "airTemperature",
        false,
        "
        KGUC -106.930 38.520 2337 8.9
        K7BM -106.220 38.780 2996 7.0
        KANK -106.050 38.530 2293 12.5
        KAEJ -106.120 38.820 2420 12.1
        KASE -106.870 39.230 2384 4.4
        K04V -106.170 38.100 2389 7.0
        KMTJ -107.900 38.500 1755 15.0
        KLXV -106.320 39.230 3027 4.4
        KRCV -106.350 37.720 2418 11.1
        KAJZ -108.070 38.780 1583 16.7
        KTEX -107.900 37.950 2760 7.0
        K5SM -107.380 39.430 3229 1.0
        KCPW -106.800 37.450 3570 0.0
    ",
    ),
    // 2022-10-22T01:53:00Z
    (
        "airTemperature",
        false,
        "
        KASE -106.870 39.230 2384 4.4
        KEGE -106.920 39.630 1993 12.8
        KLXV -106.320 39.230 3027 4.4
        K5SM -107.380 39.430 3229 1.0
        KCCU -106.150 39.480 3672 2.0
        K7BM -106.220 38.780 2996 7.0
        KGUC -106.930 38.520 2337 8.9
        KAEJ -106.120 38.820 2420 12.1
        KRIL -107.730 39.530 1683 13.3
        K20V -106.370 40.050 2259 10.0
        KANK -106.050 38.530 2293 12.5
        K0CO -105.770 39.800 3804 -1.0
        KAJZ -108.070 38.780 1583 16.7
    ",
    ),
    // 2022-10-22T01:53:00Z
    (
        "mslp",
        false,
        "
        KASE -106.870 39.230 2384 1011.0
        KEGE -106.920 39.630 1993 1005.7
        KLXV -106.320 39.230 3027 1008.6
        KGUC -106.930 38.520 2337 1015.6
        KRIL -107.730 39.530 1683 1009.9
        KMTJ -107.900 38.500 1755 1009.5
        KEEO -107.880 40.050 1957 1009.8
        KHDN -107.220 40.480 2012 1010.3
        KGJT -108.530 39.130 1475 1007.8
        KCAG -107.520 40.500 1888 1009.9
        KAPA -104.850 39.570 1791 1003.6
        KAFF -104.820 38.970 2003 1002.2
        KCWN -104.850 38.750 2040 990.4
    ",
    ),
    // 2022-10-22T02:35:00Z
    (
        "airTemperature",
        false,
        "
        KHAF -122.500 37.520 11 14.0
        KSFO -122.370 37.620 2 15.0
        KSQL -122.250 37.520 1 15.0
        KOAK -122.230 37.720 3 15.6
        KPAO -122.120 37.470 2 14.0
        KHWD -122.120 37.670 9 14.4
        KNUQ -122.050 37.400 9 16.0
        KSJC -121.920 37.370 13 16.7
        KLVK -121.820 37.700 120 15.0
        KRHV -121.820 37.330 37 16.0
        KCCR -122.050 38.000 6 15.6
        KDVO -122.550 38.150 1 15.0
        KAPC -122.280 38.200 5 15.0
    ",
    ),
];

#[test]
fn stations_that_are_wrong_are_found_and_mountains_and_coasts_are_not() {
    for &(variable, is_wrong, text) in CASES {
        let variable: Variable = variable.parse().unwrap();
        let (mut sites, mut values, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let fields: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| fields[at].parse::<f64>().unwrap();
            names.push(fields[0]);
            sites.push(StationSite {
                coordinates: LonLat::new(number(1), number(2)).unwrap(),
                altitude_m: Some(number(3)),
            });
            values.push(number(4));
        }
        assert!(sites.len() > 8, "{} has neighbours", names[0]);
        let index = StationIndex::new(sites.iter().map(|site| site.coordinates));
        let source = vec![Quality::UNCHECKED; sites.len()];
        let verdict = vec![Quality::GOOD; sites.len()];
        let of = Surroundings {
            variable,
            sites: &sites,
            index: &index,
            value: &values,
            source: &source,
            verdict: &verdict,
        };
        let mut out = verdict.clone();
        Checker::shared().check_neighbours(&of, &mut out).unwrap();
        let report = Checker::shared().explain_neighbours(&of, 0).unwrap();
        let expected = if is_wrong { DISAGREE } else { Quality::GOOD };
        assert_eq!(out[0], expected, "{variable} of {}: {:?}", names[0], report.inputs);
        if is_wrong {
            // None of its neighbours is blamed.
            let others = out[1..].iter().filter(|&&verdict| verdict == DISAGREE).count();
            assert_eq!(others, 0, "{variable} around {}", names[0]);
        }
    }
}
