//! One connection to one server: credential, deadlines, safe repeats, typed refusals.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use tokio::time::{Instant, sleep, timeout};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};
use tonic_types::StatusExt;

use crate::contract::ErrorReason;
use crate::contract::lobby_service_client::LobbyServiceClient;
use crate::contract::play_service_client::PlayServiceClient;

/// For one attempt of a call.
const CALL_DEADLINE: Duration = Duration::from_secs(5);
/// For all attempts of a call together. A dead line is noticed after 15 s (see the keepalive), so
/// this is longer.
const PATIENCE: Duration = Duration::from_mins(1);
const FIRST_PAUSE: Duration = Duration::from_millis(300);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

type Identified = InterceptedService<Channel, Identity>;

/// A connection to a server, with one credential.
pub struct Server {
    channel: Identified,
}

impl Server {
    /// Prepares a connection to HOST:PORT, with the credential that is kept in a file. Nothing is sent
    /// yet.
    pub fn new(address: &str, file: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let channel = Endpoint::from_shared(format!("http://{address}"))?
            .connect_timeout(CALL_DEADLINE)
            .http2_keep_alive_interval(Duration::from_secs(10))
            .keep_alive_timeout(Duration::from_secs(5))
            .keep_alive_while_idle(true)
            .connect_lazy();
        Ok(Self {
            channel: InterceptedService::new(channel, Identity::new(&kept_credential(file)?)?),
        })
    }

    pub fn lobby(&self) -> LobbyServiceClient<Identified> {
        LobbyServiceClient::new(self.channel.clone())
    }

    pub fn play(&self) -> PlayServiceClient<Identified> {
        PlayServiceClient::new(self.channel.clone())
    }
}

/// Makes a call, again and again while it may still succeed. Each attempt sends the same request,
/// with the same request id, so that the server does it once.
pub async fn call<Answer>(
    attempt: impl AsyncFn() -> Result<Response<Answer>, Status>,
) -> Result<Answer, Refusal> {
    let give_up = Instant::now() + PATIENCE;
    let mut failures = 0;
    loop {
        let refusal: Refusal = match timeout(CALL_DEADLINE, attempt()).await {
            Ok(Ok(answer)) => return Ok(answer.into_inner()),
            Ok(Err(status)) => status.into(),
            Err(_) => Status::deadline_exceeded("no answer in time").into(),
        };
        if !refusal.is_passing() || Instant::now() > give_up {
            return Err(refusal);
        }
        failures += 1;
        refusal.wait(failures).await;
    }
}

/// Reads the credential from a file, or makes a new one and writes it there, for its owner alone. A
/// client that is started again with the same file has its seat back. Without a file the credential lasts
/// as long as the process.
fn kept_credential(file: Option<&Path>) -> io::Result<String> {
    if let Some(path) = file
        && path.exists()
    {
        return Ok(fs::read_to_string(path)?.trim().to_owned());
    }
    let credential = BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>());
    if let Some(path) = file {
        let mut options = OpenOptions::new();
        let mut kept = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        writeln!(kept, "{credential}")?;
    }
    Ok(credential)
}

/// Says with each call who is asking. Anyone who has the credential has the seat.
#[derive(Clone)]
pub struct Identity(MetadataValue<Ascii>);

impl Identity {
    fn new(credential: &str) -> Result<Self, Box<dyn Error>> {
        let mut value: MetadataValue<Ascii> = format!("Bearer {credential}").parse()?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl Interceptor for Identity {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let metadata = request.metadata_mut();
        metadata.insert("authorization", self.0.clone());
        metadata.insert("odin-table-revision", MetadataValue::from_static("1"));
        Ok(request)
    }
}

/// A call or a stream that failed, in a form that a program can act upon.
#[derive(Debug)]
pub struct Refusal {
    pub code: Code,
    pub message: String,
    /// Unspecified when the failure is gRPC's own, or newer than this client.
    pub reason: ErrorReason,
    /// Go with the reason; error.proto names them. None when the failure is gRPC's own.
    pub facts: Option<HashMap<String, String>>,
    /// How long the server wants to be left alone, or zero.
    pub retry_after: Duration,
}

impl Refusal {
    /// Whether the same call may succeed later: the line broke, or the server asks for it. Whether a
    /// call was carried out before the line broke nobody knows; hence its request id.
    pub fn is_passing(&self) -> bool {
        match self.code {
            Code::Unavailable | Code::DeadlineExceeded => true,
            // Not the server's word, but tonic's for a line that broke.
            Code::Cancelled | Code::Internal | Code::Unknown => self.facts.is_none(),
            _ => !self.retry_after.is_zero(),
        }
    }

    /// Waits before the next attempt after so many failures in a row: 0.3 to 3 seconds, spread by
    /// chance so that clients do not come back all at once, or longer when the server asks for it.
    pub async fn wait(&self, failures: u32) {
        let longest = LONGEST_PAUSE.min(FIRST_PAUSE * 2_u32.pow(failures.clamp(1, 10) - 1));
        let pause = longest.mul_f64(rand::random_range(0.67..1.0));
        let pause = pause.max(self.retry_after);
        eprintln!("{self}; trying again in {pause:.1?}");
        sleep(pause).await;
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info();
        let reason = info
            .and_then(|info| ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason)));
        let retry = details.retry_info().and_then(|retry| retry.retry_delay);
        Self {
            code: status.code(),
            message: status.message().to_owned(),
            reason: reason.unwrap_or_default(),
            facts: info.map(|info| info.metadata.clone()),
            retry_after: retry.unwrap_or_default(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}: {}", self.code, self.message)
    }
}

impl Error for Refusal {}
