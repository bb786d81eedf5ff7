//! What a process has used, as Linux tells it in `/proc`.

use std::fs;
use std::time::Duration;

/// What a process has used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usage {
    /// Time on processors, its own and the kernel's for it.
    pub(super) cpu: Duration,
    /// Resident memory now, in bytes.
    pub(super) resident_bytes: u64,
    /// The most there has been, in bytes.
    pub(super) peak_bytes: u64,
}

impl Usage {
    /// Of a process, or of this one; `None` where the system does not tell.
    pub(super) fn of(process: Option<u32>) -> Option<Self> {
        let place = process.map_or_else(|| "/proc/self".to_owned(), |id| format!("/proc/{id}"));
        let stat = fs::read_to_string(format!("{place}/stat")).ok()?;
        let status = fs::read_to_string(format!("{place}/status")).ok()?;
        Self::read(&stat, &status, rustix::param::clock_ticks_per_second())
    }

    fn read(stat: &str, status: &str, ticks_per_second: u64) -> Option<Self> {
        // The name, in parentheses, may hold anything; the 14th and 15th field count from the state after it.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut times = fields.split_whitespace().skip(11);
        let (own, kernel): (u64, u64) = (times.next()?.parse().ok()?, times.next()?.parse().ok()?);
        let cpu = Duration::from_nanos((own + kernel) * (1_000_000_000 / ticks_per_second.max(1)));
        let kibibytes = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Some(Self { cpu, resident_bytes: kibibytes("VmRSS:")? * 1024, peak_bytes: kibibytes("VmHWM:")? * 1024 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_memory_are_read_whatever_the_process_is_called() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 5 0 100 1000 10";
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        let usage = Usage::read(stat, status, 100).unwrap();
        assert_eq!(usage.cpu, Duration::from_secs(2));
        assert_eq!((usage.resident_bytes, usage.peak_bytes), (1 << 20, 2 << 20));
        assert_eq!(Usage::read("42 (a)", status, 100), None);
        assert_eq!(Usage::read(stat, "", 100), None);
    }
}
