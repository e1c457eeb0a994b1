//! One connection to one server: credential, deadlines, safe repeats.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use tokio::time::{Instant, sleep, timeout};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};

use crate::contract::lobby_service_client::LobbyServiceClient;
use crate::contract::play_service_client::PlayServiceClient;
use crate::follow::Follow;
use crate::refusal::Refusal;

/// For one attempt of a call.
const CALL_DEADLINE: Duration = Duration::from_secs(5);
/// For all attempts of a call together. A dead line is noticed after 30 s (see the keepalive), so
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
    /// Prepares a connection to HOST:PORT, with a new credential. Nothing is sent yet.
    pub fn new(address: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let channel = Endpoint::from_shared(format!("http://{address}"))?
            .connect_timeout(CALL_DEADLINE)
            .http2_keep_alive_interval(Duration::from_secs(20))
            .keep_alive_timeout(Duration::from_secs(10))
            .keep_alive_while_idle(true)
            .connect_lazy();
        Ok(Self {
            channel: InterceptedService::new(channel, Identity::new()?),
        })
    }

    pub fn lobby(&self) -> LobbyServiceClient<Identified> {
        LobbyServiceClient::new(self.channel.clone())
    }

    pub fn play(&self) -> PlayServiceClient<Identified> {
        PlayServiceClient::new(self.channel.clone())
    }

    /// Follows a table: see there.
    pub fn follow(&self, table: &str) -> Follow<'_> {
        Follow::new(self, table)
    }

    /// Makes a call, again and again while it may still succeed. Each attempt sends the same
    /// request, with the same request id, so that the server does it once.
    pub async fn call<Answer>(
        &self,
        attempt: impl AsyncFn() -> Result<Response<Answer>, Status>,
    ) -> Result<Answer, Refusal> {
        let give_up = Instant::now() + PATIENCE;
        for attempts in 1.. {
            let refusal: Refusal = match timeout(CALL_DEADLINE, attempt()).await {
                Ok(Ok(answer)) => return Ok(answer.into_inner()),
                Ok(Err(status)) => status.into(),
                Err(_) => Status::deadline_exceeded("no answer in time").into(),
            };
            let pause = backoff(attempts).max(refusal.retry_after);
            if !refusal.is_passing() || Instant::now() + pause > give_up {
                return Err(refusal);
            }
            sleep(pause).await;
        }
        unreachable!("the loop counts as far as patience reaches")
    }
}

/// Names one request: whatever changes something carries one, and repeats it.
pub fn new_request_id() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 16]>())
}

/// How long to wait after so many failures in a row: 0.3 to 3 seconds, spread by chance so that
/// clients do not come back all at once.
pub fn backoff(failures: u32) -> Duration {
    let longest = LONGEST_PAUSE.min(FIRST_PAUSE * 2_u32.pow(failures.clamp(1, 10) - 1));
    longest.mul_f64(rand::random_range(0.67..1.0))
}

/// Says with each call who is asking. Whoever holds the credential holds the seat: a client that
/// wants its seat back after a restart keeps it in a file that only its owner may read.
#[derive(Clone)]
pub struct Identity(MetadataValue<Ascii>);

impl Identity {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let credential = BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>());
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
