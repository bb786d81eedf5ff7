//! The methods there are, out of the descriptors: only their names become names of spans.

use std::collections::HashMap;

use prost::{DecodeError, Message};
use prost_types::FileDescriptorSet;

use crate::telemetry::names;

/// Whether a method takes and answers one message, or a stream of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shape {
    pub(super) takes_many: bool,
    pub(super) answers_many: bool,
}

impl Shape {
    /// Asked once, answered for as long as the caller listens.
    pub(super) const fn is_watch(self) -> bool {
        self.answers_many && !self.takes_many
    }
}

#[derive(Debug)]
pub(super) struct Methods(HashMap<String, Shape>);

impl Methods {
    pub(super) fn of(sets: &[&[u8]]) -> Result<Self, DecodeError> {
        let mut methods = HashMap::new();
        for set in sets {
            for file in FileDescriptorSet::decode(*set)?.file {
                for service in &file.service {
                    for method in &service.method {
                        let name = format!("{}.{}/{}", file.package(), service.name(), method.name());
                        let shape =
                            Shape { takes_many: method.client_streaming(), answers_many: method.server_streaming() };
                        methods.insert(name, shape);
                    }
                }
            }
        }
        Ok(Self(methods))
    }

    /// `package.Service/Method` for the path of a call.
    pub(super) fn name(&self, path: &str) -> &str {
        let known = path.strip_prefix('/').and_then(|path| self.0.get_key_value(path));
        known.map_or(names::OTHER_METHOD, |(name, _)| name)
    }

    /// One message each way where there is no such method.
    pub(super) fn shape(&self, path: &str) -> Shape {
        path.strip_prefix('/').and_then(|path| self.0.get(path)).copied().unwrap_or_default()
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

    #[test]
    fn the_shape_of_a_method_is_what_its_descriptor_says() {
        let methods =
            Methods::of(&[tonic_health::pb::FILE_DESCRIPTOR_SET, tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET])
                .unwrap();
        assert_eq!(methods.shape("/grpc.health.v1.Health/Check"), Shape::default());
        assert!(methods.shape("/grpc.health.v1.Health/Watch").is_watch());
        let reflection = methods.shape("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
        assert_eq!(reflection, Shape { takes_many: true, answers_many: true });
        assert_eq!(methods.shape("/my/secret"), Shape::default());
    }
}
