//! `BatchCapture`: facts are offered together.

use super::command::BatchCapture;
use super::replay::Payload;
use super::{Error, FieldFault, Gate, operation};
use crate::identity::Caller;
use crate::memory::Receipt;

impl Gate {
    /// Offers facts to the write gate, in their order and all or none: what becomes of the first, and of the others.
    ///
    /// Decision: an import is recorded as a method of its own, `Import`, and differs in nothing else: any capture may
    /// state when a fact was observed, and what is imported is judged as whatever else is offered. The grant says who
    /// may bring in many facts that nobody has just told, and the record tells them apart. The cost: the same request
    /// id with and without `import` are two attempts.
    ///
    /// # Errors
    /// A status for what is not the policy's to decide. Whatever fails one fact, fails all.
    pub async fn batch_capture(
        &self,
        caller: &Caller,
        command: BatchCapture,
    ) -> Result<(Receipt, Vec<Receipt>), Error> {
        let operation = if command.import { operation::IMPORT } else { operation::BATCH_CAPTURE };
        let call = self.begin(caller, operation, command.subject.as_ref()).await?;
        let payload = Payload::from(&command);
        let (mut proposals, mut faults) = (Vec::with_capacity(command.items.len()), Vec::new());
        for (index, mut item) in command.items.into_iter().enumerate() {
            item.validate_only = command.validate_only;
            match call.proposal(item) {
                Ok(proposal) => proposals.push(proposal),
                Err(Error::Invalid(found)) => faults.extend(found.into_iter().map(|fault| within(index, fault))),
                Err(other) => return Err(other),
            }
        }
        if !faults.is_empty() {
            return Err(Error::Invalid(faults));
        }
        for proposal in &proposals {
            call.require_offered(proposal).await?;
        }
        call.propose_all(&mut proposals, command.request_id, &payload).await
    }
}

fn within(index: usize, fault: FieldFault) -> FieldFault {
    FieldFault { field: format!("items[{index}].{}", fault.field), ..fault }
}
