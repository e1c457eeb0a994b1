from typing import Final

from grpc_health.v1 import _async as aio

__all__ = ["OVERALL_HEALTH", "SERVICE_NAME", "aio"]

SERVICE_NAME: Final[str]
OVERALL_HEALTH: Final[str]
