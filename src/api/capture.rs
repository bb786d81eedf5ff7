//! `CaptureService`.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};

use super::call::call;
use super::codec::Written;
use super::proto::{
    BatchCaptureRequest, BatchCaptureResponse, CaptureRequest, CaptureResponse, ConfirmCandidateRequest,
    ConfirmCandidateResponse, GetCandidateRequest, GetCandidateResponse, ListCandidatesRequest, ListCandidatesResponse,
    RejectCandidateRequest, RejectCandidateResponse,
};
use super::servers::capture_service_server::CaptureService;
use super::{Api, convert, reply};
use crate::identity::Verb;

#[async_trait]
impl CaptureService for Api {
    async fn capture(&self, request: Request<CaptureRequest>) -> Result<Response<CaptureResponse>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "Capture", Verb::Capture).await?;
            let command = convert::capture(request)?;
            reply::capture(&gate.capture(&caller, command).await?)
        })
        .await
    }

    async fn batch_capture(
        &self,
        request: Request<BatchCaptureRequest>,
    ) -> Result<Response<BatchCaptureResponse>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "BatchCapture", Verb::Capture).await?;
            if request.import {
                gate.permit(&caller, "Import", Verb::Import).await?;
            }
            let command = convert::batch_capture(request)?;
            reply::batch_capture(&gate.batch_capture(&caller, command).await?)
        })
        .await
    }

    async fn confirm_candidate(
        &self,
        request: Request<ConfirmCandidateRequest>,
    ) -> Result<Response<ConfirmCandidateResponse>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "ConfirmCandidate", Verb::Confirm).await?;
            let command = convert::confirm_candidate(request)?;
            reply::confirm_candidate(&gate.confirm_candidate(&caller, command).await?)
        })
        .await
    }

    async fn reject_candidate(
        &self,
        request: Request<RejectCandidateRequest>,
    ) -> Result<Response<RejectCandidateResponse>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "RejectCandidate", Verb::Confirm).await?;
            let command = convert::reject_candidate(request)?;
            Ok(reply::reject_candidate(&gate.reject_candidate(&caller, command).await?))
        })
        .await
    }

    async fn get_candidate(
        &self,
        request: Request<GetCandidateRequest>,
    ) -> Result<Response<Written<GetCandidateResponse>>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "GetCandidate", Verb::Confirm).await?;
            let command = convert::get_candidate(request)?;
            reply::get_candidate(&gate.get_candidate(&caller, command).await?)
        })
        .await
    }

    async fn list_candidates(
        &self,
        request: Request<ListCandidatesRequest>,
    ) -> Result<Response<Written<ListCandidatesResponse>>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, request| async move {
            gate.permit(&caller, "ListCandidates", Verb::Confirm).await?;
            let command = convert::list_candidates(request)?;
            Ok(reply::list_candidates(&gate.list_candidates(&caller, command).await?))
        })
        .await
    }
}
