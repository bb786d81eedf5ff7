//! That the sync comes before the answer: a kill cannot show it, the system calls do.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::callers::{Caller, fact, recall_all, values};
use crate::program::{Running, Service, eventually};

const CALLS: &str = "trace=fdatasync,fsync,read,recvfrom,readv,recvmsg,write,sendto,writev,sendmsg";

/// What `strace` writes down of a running process, from now on.
struct Trace {
    running: Running,
    file: std::path::PathBuf,
}

impl Trace {
    fn begin(folder: &Path, process_id: u32) -> Self {
        let file = folder.join("system-calls");
        let mut command = Command::new("strace");
        command.args(["-f", "-yy", "-s", "65536", "-e", CALLS, "-o"]).arg(&file).args(["-p", &process_id.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let found = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(
            found.is_ok_and(|status| status.success()),
            "`strace` is needed to see that the disk is synced before an answer: please install it (`apt-get install strace`)"
        );
        let mut running = Running::spawn(&mut command);
        eventually("strace attaches", || {
            let told = running.err_so_far();
            assert!(running.ended().is_none(), "strace cannot attach to a process of ours: {told}");
            told.contains(" attached").then_some(())
        });
        Self { running, file }
    }

    fn end(mut self) -> Vec<Call> {
        self.running.signal("INT");
        self.running.wait();
        calls(&std::fs::read_to_string(&self.file).unwrap())
    }
}

/// One system call, with where it began and where it ended in the order of all.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    begin: usize,
    end: usize,
    name: String,
    /// Its arguments and its result, as they are told.
    told: String,
}

impl Call {
    fn is_one_of(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }

    fn is_on_the_wire(&self) -> bool {
        self.told.contains("<TCP:") || self.told.contains("<TCPv6:") || self.told.contains("<socket:")
    }

    fn is_read_of(&self, text: &str) -> bool {
        self.is_one_of(&["read", "recvfrom", "readv", "recvmsg"]) && self.is_on_the_wire() && self.told.contains(text)
    }

    fn is_answer_with(&self, text: &str) -> bool {
        self.is_one_of(&["write", "sendto", "writev", "sendmsg"]) && self.is_on_the_wire() && self.told.contains(text)
    }

    fn is_sync_of_the_log(&self) -> bool {
        self.is_one_of(&["fdatasync", "fsync"])
            && self.told.contains("recall-gate.db-wal>")
            && self.told.trim_end().ends_with("= 0")
    }
}

/// The calls of a trace: `PID name(…) = result`, or in two lines, `PID name(… <unfinished ...>` and
/// `PID <... name resumed>…) = result`.
fn calls(trace: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut unfinished: Vec<(&str, usize)> = Vec::new();
    for (place, line) in trace.lines().enumerate() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(rest) = rest.strip_prefix("<... ") {
            let Some(waiting) = unfinished.iter().position(|(one, _)| *one == process) else { continue };
            let (_, index) = unfinished.swap_remove(waiting);
            let told = rest.split_once("resumed>").map_or("", |(_, told)| told);
            calls[index].end = place;
            calls[index].told.push_str(told);
        } else if let Some((name, told)) = rest.split_once('(') {
            let told = told
                .strip_suffix("<unfinished ...>")
                .inspect(|_| unfinished.push((process, calls.len())))
                .unwrap_or(told);
            calls.push(Call { begin: place, end: place, name: name.to_owned(), told: told.to_owned() });
        }
    }
    calls
}

/// Asserts that between the request with `asked` and the answer with `answered` the log was synced.
fn assert_synced_between(calls: &[Call], asked: &str, answered: &str) {
    let request = calls.iter().find(|call| call.is_read_of(asked)).unwrap_or_else(|| panic!("no request: {calls:#?}"));
    let answer =
        calls.iter().find(|call| call.is_answer_with(answered)).unwrap_or_else(|| panic!("no answer: {calls:#?}"));
    let between = |call: &&Call| call.begin > request.begin && call.end < answer.begin;
    let synced = calls.iter().filter(between).any(Call::is_sync_of_the_log);
    assert!(synced, "no sync of the log between {request:?} and {answer:?} in {calls:#?}");
}

#[tokio::test]
async fn i06_the_disk_is_synced_before_a_write_is_acknowledged_and_before_text_leaves() {
    let service = Service::start(&["--log-filter", "off"]);
    let mut caller = Caller::nobody(&service.address).await;
    let trace = Trace::begin(service.path(), service.running.id());
    let written = caller.capture.capture(fact("response_style", "the zq7 traced value")).await.unwrap().into_inner();
    let recalled = caller.recall.recall(recall_all()).await.unwrap().into_inner();
    assert_eq!(values(&recalled), ["the zq7 traced value"]);
    let calls = trace.end();
    assert_synced_between(&calls, "the zq7 traced value", &written.decision_id);
    // The value is in the answer alone, and the purpose in the request.
    assert_synced_between(&calls, "converse", &recalled.decision_id);
    let text = calls.iter().find(|call| call.is_answer_with("the zq7 traced value")).expect("the text went out");
    let decided = calls.iter().position(|call| call.is_answer_with(&recalled.decision_id)).unwrap();
    assert_eq!(text, &calls[decided], "the text leaves with its decision");
}

#[test]
fn a_call_in_two_lines_ends_where_it_is_resumed() {
    let trace = "7 read(5<TCP:[1]>, \"ask\", 9) = 3\n\
                 8 fdatasync(9</d/recall-gate.db-wal> <unfinished ...>\n\
                 7 write(1<pipe:[2]>, \"x\", 1) = 1\n\
                 8 <... fdatasync resumed>) = 0\n\
                 7 writev(5<TCP:[1]>, [{\"answer\", 6}], 1) = 6\n";
    let calls = calls(trace);
    let ends: Vec<_> = calls.iter().map(|call| (call.name.as_str(), call.begin, call.end)).collect();
    assert_eq!(ends, [("read", 0, 0), ("fdatasync", 1, 3), ("write", 2, 2), ("writev", 4, 4)]);
    assert_synced_between(&calls, "ask", "answer");
}

#[test]
#[should_panic(expected = "no sync of the log")]
fn a_sync_that_ends_after_the_answer_began_does_not_count() {
    let trace = "7 read(5<TCP:[1]>, \"ask\", 9) = 3\n\
                 8 fdatasync(9</d/recall-gate.db-wal> <unfinished ...>\n\
                 7 writev(5<TCP:[1]>, [{\"answer\", 6}], 1) = 6\n\
                 8 <... fdatasync resumed>) = 0\n";
    assert_synced_between(&calls(trace), "ask", "answer");
}

#[test]
#[should_panic(expected = "no sync of the log")]
fn a_sync_of_another_file_or_one_that_failed_does_not_count() {
    let trace = "7 read(5<TCP:[1]>, \"ask\", 9) = 3\n\
                 8 fdatasync(9</d/recall-gate.db>) = 0\n\
                 8 fdatasync(9</d/recall-gate.db-wal>) = -1 EIO (Input/output error)\n\
                 7 writev(5<TCP:[1]>, [{\"answer\", 6}], 1) = 6\n";
    assert_synced_between(&calls(trace), "ask", "answer");
}
