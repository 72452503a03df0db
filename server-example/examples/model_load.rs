//! How long points of the model service take at a steady rate.
//!
//! `cargo run --release -p mesonet-server --example model_load -- [RATE [SECONDS [ADDR]]]` asks a
//! running server for cells of NAM all over its grid, each with whole columns of three fields, and
//! prints the percentiles of the time from when a request was due until its answer was there. The
//! rate is kept whatever the server does, so a request that had to wait counts its waiting. The
//! server's rate limit must be lifted (`--rate-requests 0`).

mod steady;

use std::error::Error;

const RUN: &str = "20180917T000000Z";
const ROWS: u64 = 65;
const COLUMNS: u64 = 93;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ([rate, seconds], address) = steady::arguments([1000, 20])?;
    // Neighbours in time are far apart on the grid.
    let path = |number: u64| {
        let (row, column) = (number * 37 % ROWS, number * 59 % COLUMNS);
        format!(
            "/models/nam211/point?run={RUN}&hour=0&row={row}&col={column}&fields=temperature,\
             u_wind,v_wind"
        )
    };
    println!("{}", steady::ask(&address, rate, seconds, path).await?);
    Ok(())
}
