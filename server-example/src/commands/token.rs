//! The command `token`.

use crate::auth::{DevelopmentAccount, development_token, key_file};
use crate::config::RecordFlags;
use clap::Args;
use mesonet::access::Plan;
use mesonet_service::clock::system_ms;

use super::{Outcome, load};

/// The flags of `token`.
#[derive(Clone, Debug, Args)]
pub struct TokenFlags {
    /// The plan of the account: free, pro or commercial
    #[arg(long, value_name = "PLAN")]
    pub plan: Plan,
    /// An organisation that the account belongs to; may be repeated
    #[arg(long = "org", value_name = "NAME")]
    pub organisations: Vec<String>,
    /// The account is of the operator's staff
    #[arg(long)]
    pub staff: bool,
    /// How long the token is valid, in days or hours, at most 30d
    #[arg(long, value_name = "SPAN", default_value = "1h")]
    pub expires: String,
    /// Which record.
    #[command(flatten)]
    pub record: RecordFlags,
}

/// Prints a token of the development issuer. Its key is made on first use.
///
/// # Errors
/// A flag is invalid, or the key cannot be made or read.
pub fn token(flags: &TokenFlags) -> Outcome {
    let TokenFlags { plan, organisations, staff, expires, record } = flags.clone();
    let config = load(&record)?;
    let account = DevelopmentAccount { plan, organisations, staff, expires };
    println!("{}", development_token(&config.data, &account, system_ms())?);
    let path = key_file(&config.data);
    eprintln!("signed with {}; accepted on a loopback address only", path.display());
    Ok(true)
}
