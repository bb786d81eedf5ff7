//! `DiscoveryService`. Needs a caller and no grant.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};

use super::call::call;
use super::proto::{GetCallerRequest, GetCallerResponse, GetPolicyRequest, GetPolicyResponse};
use super::servers::discovery_service_server::DiscoveryService;
use super::{Api, reply};

#[async_trait]
impl DiscoveryService for Api {
    async fn get_caller(&self, request: Request<GetCallerRequest>) -> Result<Response<GetCallerResponse>, Status> {
        call(request, |caller, GetCallerRequest {}| async move { Ok(reply::caller(&caller)) }).await
    }

    async fn get_policy(&self, request: Request<GetPolicyRequest>) -> Result<Response<GetPolicyResponse>, Status> {
        let gate = Arc::clone(&self.gate);
        call(request, |caller, GetPolicyRequest {}| async move { Ok(reply::policy(&gate.policy(), caller.grants())) })
            .await
    }
}
