//! `DeleteService`.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};

use super::call::call;
use super::proto::{DeleteRequest, DeleteResponse, RestoreRequest, RestoreResponse};
use super::servers::delete_service_server::DeleteService;
use super::{Api, convert, reply};
use crate::identity::Verb;

#[async_trait]
impl DeleteService for Api {
    async fn delete(&self, request: Request<DeleteRequest>) -> Result<Response<DeleteResponse>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "Delete", Verb::Delete).await?;
            let command = convert::delete(request)?;
            Ok(reply::delete(&gate.delete(&caller, command).await?))
        })
        .await
    }

    async fn restore(&self, request: Request<RestoreRequest>) -> Result<Response<RestoreResponse>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "Restore", Verb::Delete).await?;
            let command = convert::restore(request)?;
            Ok(reply::restore(&gate.restore(&caller, command).await?))
        })
        .await
    }
}
