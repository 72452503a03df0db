use super::*;

fn shown(name: &str) -> String {
    let Some(meaning) = meaning(name) else { return "-".to_owned() };
    let ElementMeaning { variable, interval_type, interval_minutes, sensor, height, .. } = meaning;
    format!("{variable} {interval_type} {interval_minutes} {sensor} {height:?}")
}

#[test]
fn names_say_variable_interval_and_sensor() {
    for (name, expected) in [
        ("air_temp", "airTemperature Instantaneous 0 0 None"),
        ("air_temp_2", "airTemperature Instantaneous 0 2 None"),
        ("avg_air_temp_pst1hr", "airTemperature Average 60 0 None"),
        ("max_air_temp_pst24hrs", "airTemperature Max 1440 0 None"),
        ("min_rel_hum_pst1mt", "relativeHumidity Min 1 0 None"),
        ("dwpt_temp", "dewPointTemperature Instantaneous 0 0 None"),
        ("wetblb_temp", "wetBulbTemperature Instantaneous 0 0 None"),
        ("mslp", "mslp Instantaneous 0 0 None"),
        ("avg_stn_pres_pst10mts_1", "barometricPressure Average 10 1 None"),
        ("vis", "visibility Instantaneous 0 0 None"),
        ("avg_snw_dpth_pst5mts_3", "snowDepth Average 5 3 None"),
        ("avg_sea_sfc_temp_pst10mts", "seaSurfaceTemperature Average 10 0 None"),
        ("avg_wnd_spd_10m_pst15mts", "windSpeed10m Average 15 0 Some(Metres(10))"),
        ("max_wnd_spd_10m_pst1hr", "windGust10m Max 60 0 Some(Metres(10))"),
        ("max_wnd_gst_spd_10m_pst10mts", "windGust10m Max 10 0 Some(Metres(10))"),
        ("avg_wnd_spd_pst10mts", "windSpeed Average 10 0 Some(Unspecified)"),
        ("max_avg_wnd_spd_pst10mts", "windGust Max 10 0 Some(Unspecified)"),
        ("avg_wnd_spd_3m_pst1hr", "windSpeed Average 60 0 Some(Metres(3))"),
        ("avg_wnd_spd_pcpn_gag_pst1mt", "windSpeed Average 1 0 Some(Elsewhere)"),
        ("avg_wnd_dir_10m_pst2mts", "windDirection Average 2 0 Some(Metres(10))"),
        ("pcpn_amt_pst6hrs", "precipitation Cumulative 360 0 None"),
        ("rnfl_amt_pst15mts", "rainfall Cumulative 15 0 None"),
        ("avg_globl_solr_radn_pst1hr", "avgGlobalSolarRadiation Average 60 0 None"),
        ("tot_globl_solr_radn_pst1mt", "cumulativeGlobalSolarRadiation Cumulative 1 0 None"),
        ("sig_wave_hgt_pst35mts_10mts_ago", "waveHeight Average 35 0 None"),
        ("pk_wave_hgt_pst35mts_10mts_ago", "waveHeightMax Max 35 0 None"),
        ("max_wave_hgt_pst20mts", "waveHeightMax Max 20 0 None"),
        ("pk_wave_pd_pst35mts_10mts_ago", "wavePeriodPeak Average 35 0 None"),
        ("avg_wave_pd_pst20mts", "wavePeriodAverage Average 20 0 None"),
        ("avg_pk_wave_dir_pst20mts", "waveDirection Average 20 0 None"),
        ("wnd_dir_10m_pst1hr_max_spd", "maxWindDirection Max 60 0 Some(Metres(10))"),
        ("cum_pcpn_gag_wt", "precipitationGaugeWeight Instantaneous 0 0 None"),
        ("avg_cum_pcpn_gag_wt_fltrd_pst5mts_2", "precipitationGaugeWeight Average 5 2 None"),
        ("cum_pcpn_amt", "precipitationSinceReset Instantaneous 0 0 None"),
        ("snw_dpth_wtr_equiv", "snowWaterEquivalent Instantaneous 0 0 None"),
        ("vert_vis", "ceilingHeight Instantaneous 0 0 None"),
        ("altmetr_setng", "altimeterSetting Instantaneous 0 0 None"),
        ("pres_tend_amt_pst3hrs", "pressureTendency Cumulative 180 0 None"),
        ("pres_tend_char_pst3hrs", "pressureTendencyCharacter Unknown 180 0 None"),
        ("medn_snw_dpth_pst1mt", "snowDepth Median 1 0 None"),
        ("avg_photosnthticly_actv_radn_pst1hr", "photosyntheticRadiation Average 60 0 None"),
    ] {
        assert_eq!(shown(name), expected, "{name}");
    }
}

#[test]
fn other_names_mean_nothing() {
    for name in [
        "",
        "_",
        "é_1",
        "air_temp_pst1hr",
        "avg_air_temp",
        "air_temp_1hr_ago_1",
        "avg_air_temp_pst1hr_10mts_ago",
        "avg_air_temp_psthr",
        "avg_air_temp_pst0mts",
        "avg_air_temp_pst99999hrs",
        "max_wnd_spd_pst1hr_tm",
        "wnd_dir_10m_max_spd",
        "air_temp_pst1hr_max_spd",
        "max_pk_wnd_spd_10m_pst1hr",
        "cum_pcpn_amt_1hr_ago",
        "pcpn_amt_snc_top_of_hr",
        "snw_dpth_wtr_equiv_1hr_ago",
        "avg_rel_hum_pst1hré",
    ] {
        assert_eq!(shown(name), "-", "{name}");
    }
}
