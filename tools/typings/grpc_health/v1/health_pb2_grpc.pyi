from grpc import aio
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

class HealthStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    Check: aio.UnaryUnaryMultiCallable[HealthCheckRequest, HealthCheckResponse]
    Watch: aio.UnaryStreamMultiCallable[HealthCheckRequest, HealthCheckResponse]

class HealthServicer: ...

def add_HealthServicer_to_server(servicer: HealthServicer, server: aio.Server) -> None: ...
