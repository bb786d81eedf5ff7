//! A wire to PostgreSQL that reads along: it can rewrite statements, hold one back, be slow, and add some of its own.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Buf, BufMut, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, broadcast, mpsc};

use crate::postgres;

/// What happens to a statement on its way; `None`: nothing.
type Rewrite = fn(&str) -> Option<String>;

/// A wire that connections of a store go through.
pub(crate) struct Wire {
    pub(crate) port: u16,
    shared: Arc<Shared>,
    added: Mutex<mpsc::UnboundedReceiver<()>>,
}

struct Shared {
    rewrite: Rewrite,
    slow: bool,
    /// What was sent as it came, and what was rewritten.
    seen: Mutex<Vec<String>>,
    rewritten: Mutex<HashSet<String>>,
    /// A statement with this in it waits, until there is leave.
    held: Mutex<Option<&'static str>>,
    arrived: Semaphore,
    leave: Semaphore,
    additions: broadcast::Sender<&'static str>,
    added: mpsc::UnboundedSender<()>,
}

impl Wire {
    /// Changes nothing.
    pub(crate) async fn plain() -> Self {
        Self::new(|_| None, false).await
    }

    /// Each message takes a while, now and then.
    pub(crate) async fn slow() -> Self {
        Self::new(|_| None, true).await
    }

    pub(crate) async fn rewriting(rewrite: Rewrite) -> Self {
        Self::new(rewrite, false).await
    }

    async fn new(rewrite: Rewrite, slow: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, added) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            rewrite,
            slow,
            seen: Mutex::default(),
            rewritten: Mutex::default(),
            held: Mutex::default(),
            arrived: Semaphore::new(0),
            leave: Semaphore::new(0),
            additions: broadcast::channel(16).0,
            added: sender,
        });
        let its = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A connection that breaks is its client's business.
                tokio::spawn(carry(Arc::clone(&its), client));
            }
        });
        Self { port, shared, added: Mutex::new(added) }
    }

    /// The statements that went through unchanged.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// The statements that were rewritten, as they were.
    pub(crate) fn rewritten(&self) -> HashSet<String> {
        self.shared.rewritten.lock().unwrap().clone()
    }

    /// The next statement with this in it waits for leave.
    pub(crate) fn hold(&self, part: &'static str) {
        *self.shared.held.lock().unwrap() = Some(part);
    }

    /// Waits until it has come.
    pub(crate) async fn arrived(&self) {
        self.shared.arrived.acquire().await.unwrap().forget();
    }

    pub(crate) fn let_go(&self) {
        self.shared.leave.add_permits(1);
    }

    /// Runs this on every connection that is idle, unknown to its client; how many there are.
    #[expect(clippy::await_holding_lock, reason = "one test adds, by itself")]
    pub(crate) async fn add(&self, sql: &'static str) -> usize {
        let connections = self.shared.additions.send(sql).unwrap();
        let mut added = self.added.lock().unwrap();
        for _ in 0..connections {
            added.recv().await.unwrap();
        }
        connections
    }
}

const SSL_REQUEST: u32 = 80_877_103;

async fn carry(shared: Arc<Shared>, mut client: TcpStream) -> std::io::Result<()> {
    let mut server = TcpStream::connect(postgres::address()).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut out, mut back) = (BytesMut::new(), BytesMut::new());
    // The first messages have no type.
    loop {
        let mut length = [0; 4];
        client.read_exact(&mut length).await?;
        let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
        client.read_exact(&mut rest).await?;
        if rest.starts_with(&SSL_REQUEST.to_be_bytes()) {
            client.write_all(b"N").await?;
        } else {
            server.write_all(&[&length, rest.as_slice()].concat()).await?;
            break;
        }
    }
    let mut additions = shared.additions.subscribe();
    let mut idle = false;
    let mut adding = false;
    let mut turn = 0_u32;
    loop {
        tokio::select! {
            read = client.read_buf(&mut out) => {
                if read? == 0 {
                    return Ok(());
                }
                while let Some(message) = next(&mut out) {
                    idle = false;
                    turn += 1;
                    if shared.slow && turn.is_multiple_of(3) {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    let message = shared.pass(message).await;
                    server.write_all(&message).await?;
                }
            }
            read = server.read_buf(&mut back) => {
                if read? == 0 {
                    return Ok(());
                }
                while let Some(message) = next(&mut back) {
                    let ready = message[0] == b'Z';
                    if !adding {
                        client.write_all(&message).await?;
                    }
                    if ready {
                        idle = adding || message[5] == b'I';
                        if adding {
                            adding = false;
                            let _ = shared.added.send(());
                        }
                    }
                }
            }
            addition = additions.recv(), if idle && !adding => {
                let Ok(sql) = addition else { return Ok(()) };
                adding = true;
                server.write_all(&written(b'Q', &[sql.as_bytes(), b"\0"])).await?;
            }
        }
    }
}

/// The next whole message.
fn next(from: &mut BytesMut) -> Option<BytesMut> {
    let length = 1 + from.get(1..5)?.get_u32() as usize;
    (from.len() >= length).then(|| from.split_to(length))
}

fn written(kind: u8, parts: &[&[u8]]) -> BytesMut {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut message = BytesMut::new();
    message.put_u8(kind);
    message.put_u32(u32::try_from(length + 4).unwrap());
    for part in parts {
        message.put_slice(part);
    }
    message
}

impl Shared {
    async fn pass(&self, message: BytesMut) -> BytesMut {
        let body = &message[5..];
        let end = |from: &[u8]| from.iter().position(|byte| *byte == 0).unwrap();
        let (name, sql, rest) = match message[0] {
            b'P' => {
                let (name, rest) = body.split_at(end(body) + 1);
                let (sql, rest) = rest.split_at(end(rest));
                (name, sql, rest)
            }
            b'Q' => (&body[..0], &body[..end(body)], &body[end(body)..]),
            _ => return message,
        };
        let sql = std::str::from_utf8(sql).unwrap();
        let waits = self.held.lock().unwrap().take_if(|part| sql.contains(*part)).is_some();
        if waits {
            self.arrived.add_permits(1);
            self.leave.acquire().await.unwrap().forget();
        }
        if let Some(other) = (self.rewrite)(sql) {
            self.rewritten.lock().unwrap().insert(sql.to_owned());
            return written(message[0], &[name, other.as_bytes(), rest]);
        }
        self.seen.lock().unwrap().push(sql.to_owned());
        message
    }
}
