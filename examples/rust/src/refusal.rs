//! Why the server refused a call, in a form that a program can act upon.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::contract::ErrorReason;

/// A call that failed, with or without details. It has changed nothing, unless it is lost.
#[derive(Debug)]
pub struct Refusal {
    pub code: Code,
    /// Unspecified when the failure is gRPC's own, or newer than this client.
    pub reason: ErrorReason,
    /// For people.
    pub message: String,
    /// Go with the reason; error.proto names them.
    pub facts: HashMap<String, String>,
    /// How long the server wants to be left alone, or zero.
    pub retry_after: Duration,
    /// Whether nobody knows if the call was carried out: repeat it with its request id.
    pub lost: bool,
}

impl Refusal {
    /// Whether the same call may well succeed later.
    pub fn is_passing(&self) -> bool {
        self.lost || self.code == Code::ResourceExhausted && !self.retry_after.is_zero()
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info();
        let reason = info
            .and_then(|info| ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason)));
        Self {
            code: status.code(),
            reason: reason.unwrap_or_default(),
            message: status.message().to_owned(),
            facts: info.map(|info| info.metadata.clone()).unwrap_or_default(),
            retry_after: details
                .retry_info()
                .and_then(|retry| retry.retry_delay)
                .unwrap_or_default(),
            // What a server says has no source. What has one was made here: the line broke, and
            // tonic calls that Unknown or Cancelled as often as Unavailable.
            lost: matches!(status.code(), Code::Unavailable | Code::DeadlineExceeded)
                || status.source().is_some(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}: {}", self.code, self.message)?;
        if !self.facts.is_empty() {
            write!(out, " {:?}", self.facts)?;
        }
        Ok(())
    }
}

impl Error for Refusal {}
