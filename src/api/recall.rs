//! `RecallService`.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};

use super::call::call;
use super::codec::Written;
use super::proto::{
    ExplainRecallRequest, ExplainRecallResponse, GetMemoryRequest, GetMemoryResponse, ListMemoriesRequest,
    ListMemoriesResponse, RecallRequest, RecallResponse,
};
use super::servers::recall_service_server::RecallService;
use super::{Api, convert, reply};
use crate::identity::Verb;

#[async_trait]
impl RecallService for Api {
    async fn recall(&self, request: Request<RecallRequest>) -> Result<Response<Written<RecallResponse>>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "Recall", Verb::Recall).await?;
            let command = convert::recall(request)?;
            Ok(reply::recall(&gate.recall(&caller, command).await?))
        })
        .await
    }

    async fn explain_recall(
        &self,
        request: Request<ExplainRecallRequest>,
    ) -> Result<Response<Written<ExplainRecallResponse>>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "ExplainRecall", Verb::Recall).await?;
            let command = convert::explain_recall(request)?;
            Ok(reply::explain_recall(gate.explain_recall(&caller, command).await?.get()))
        })
        .await
    }

    async fn get_memory(
        &self,
        request: Request<GetMemoryRequest>,
    ) -> Result<Response<Written<GetMemoryResponse>>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "GetMemory", Verb::Recall).await?;
            let command = convert::get_memory(request)?;
            reply::get_memory(&gate.get_memory(&caller, command).await?)
        })
        .await
    }

    async fn list_memories(
        &self,
        request: Request<ListMemoriesRequest>,
    ) -> Result<Response<Written<ListMemoriesResponse>>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "ListMemories", Verb::Recall).await?;
            let command = convert::list_memories(request)?;
            Ok(reply::list_memories(&gate.list_memories(&caller, command).await?))
        })
        .await
    }
}
