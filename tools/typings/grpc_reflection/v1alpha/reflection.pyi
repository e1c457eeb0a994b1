from collections.abc import Iterable
from typing import Final

from google.protobuf.descriptor_pool import DescriptorPool
from grpc import aio

SERVICE_NAME: Final[str]

def enable_server_reflection(
    service_names: Iterable[str], server: aio.Server, pool: DescriptorPool | None = None
) -> None: ...
