//! The methods there are, out of the descriptors: only their names become names of spans.

use std::collections::HashSet;

use prost::{DecodeError, Message};
use prost_types::FileDescriptorSet;

use crate::telemetry::names;

#[derive(Debug)]
pub(super) struct Methods(HashSet<String>);

impl Methods {
    pub(super) fn of(sets: &[&[u8]]) -> Result<Self, DecodeError> {
        let mut methods = HashSet::new();
        for set in sets {
            for file in FileDescriptorSet::decode(*set)?.file {
                for service in &file.service {
                    for method in &service.method {
                        methods.insert(format!("{}.{}/{}", file.package(), service.name(), method.name()));
                    }
                }
            }
        }
        Ok(Self(methods))
    }

    /// `package.Service/Method` for the path of a call.
    pub(super) fn name(&self, path: &str) -> &str {
        path.strip_prefix('/').and_then(|path| self.0.get(path)).map_or(names::OTHER_METHOD, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_a_client_made_up_is_not_repeated() {
        let methods = Methods::of(&[tonic_health::pb::FILE_DESCRIPTOR_SET]).unwrap();
        assert_eq!(methods.name("/grpc.health.v1.Health/Check"), "grpc.health.v1.Health/Check");
        for path in ["", "/", "//grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Check/", "/my/secret"] {
            assert_eq!(methods.name(path), names::OTHER_METHOD, "{path}");
        }
    }
}
