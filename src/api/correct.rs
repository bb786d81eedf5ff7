//! `CorrectService`.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};

use super::call::call;
use super::proto::{CorrectRequest, CorrectResponse};
use super::servers::correct_service_server::CorrectService;
use super::{Api, convert, reply};
use crate::identity::Verb;

#[async_trait]
impl CorrectService for Api {
    async fn correct(&self, request: Request<CorrectRequest>) -> Result<Response<CorrectResponse>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "Correct", Verb::Correct).await?;
            let command = convert::correct(request)?;
            reply::correct(&gate.correct(&caller, command).await?)
        })
        .await
    }
}
