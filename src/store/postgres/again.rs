//! Trying a transaction again that the database has undone so that another could go on.

use std::time::Duration;

use aws_lc_rs::rand;

use super::error::is_transient;
use crate::store::fault::Fault;

/// How often a transaction is tried.
const ATTEMPTS: u32 = 4;
/// The longest first pause before another try; each further one may be twice as long.
const PAUSE: Duration = Duration::from_millis(10);

/// Whether the same may succeed, and has not been tried often enough. The first attempt is number 0.
pub(super) fn is_worth_it(fault: &Fault, attempt: u32) -> bool {
    is_transient(fault) && attempt + 1 < ATTEMPTS
}

/// Waits for a random while, longer each time, so that those who met do not meet again.
pub(super) async fn pause(attempt: u32) {
    let mut byte = [0];
    // Without randomness the pause is the longest.
    let part = rand::fill(&mut byte).map_or(u32::from(u8::MAX), |()| u32::from(byte[0]));
    let longest = PAUSE.saturating_mul(2_u32.saturating_pow(attempt));
    tokio::time::sleep(longest.saturating_mul(part) / u32::from(u8::MAX)).await;
}
