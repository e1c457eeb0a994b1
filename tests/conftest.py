"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# How long an example takes says nothing on a loaded machine; pytest ends what hangs. The rest is
# as hypothesis has it, which on CI means the same examples each time.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
