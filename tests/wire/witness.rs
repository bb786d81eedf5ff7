//! Somebody who calls on while others misbehave.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use recall_gate::api::proto::GetCallerRequest;
use recall_gate::api::proto::discovery_service_client::DiscoveryServiceClient;
use tokio::task::JoinHandle;

use crate::harness::channel;
use crate::raw::LONG;

pub(crate) struct Witness {
    calls: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    calling: JoinHandle<()>,
}

impl Witness {
    /// Begins to call, over one connection, one call after the other.
    pub(crate) async fn of(address: SocketAddr) -> Self {
        let mut client = DiscoveryServiceClient::new(channel(address).await);
        let (calls, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, ends) = (Arc::clone(&calls), Arc::clone(&over));
        let calling = tokio::spawn(async move {
            while !ends.load(Ordering::SeqCst) {
                let call = client.get_caller(GetCallerRequest::default());
                tokio::time::timeout(LONG, call).await.unwrap().unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        });
        Self { calls, over, calling }
    }

    /// Every call was answered OK, one that begins now too.
    pub(crate) async fn was_undisturbed(self) {
        let until = self.calls.load(Ordering::SeqCst) + 2;
        tokio::time::timeout(LONG, async {
            while self.calls.load(Ordering::SeqCst) < until && !self.calling.is_finished() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
        self.over.store(true, Ordering::SeqCst);
        self.calling.await.unwrap();
    }
}
