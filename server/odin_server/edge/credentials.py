"""Who is asking: the digest of the credential that a call carries, never the credential itself."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Final

from odin_server.errors import Reason, Refusal

CREDENTIAL_BYTES: Final = 32
_SCHEME: Final = "bearer "
# 32 bytes are 43 characters without padding.
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{43}=?")


def digest_of(authorization: str | None) -> bytes:
    """The digest of the credential in the value of the `authorization` metadata.

    Raises BAD_CREDENTIAL when there is none, or it is not 32 bytes in base64url.
    """
    if authorization is None:
        raise _bad("This call needs a credential: 32 random bytes of your own making.")
    if authorization[: len(_SCHEME)].lower() != _SCHEME:
        raise _bad('The metadata "authorization" has to be "Bearer" and the credential.')
    text = authorization[len(_SCHEME) :].strip()
    if not _FORM.fullmatch(text):
        raise _bad("A credential is 32 bytes in base64url.")
    try:
        credential = base64.urlsafe_b64decode(text.rstrip("=") + "=")
    except binascii.Error:
        raise _bad("A credential is 32 bytes in base64url.") from None
    if len(credential) != CREDENTIAL_BYTES:
        raise _bad("A credential is 32 bytes in base64url.")
    return hashlib.sha256(credential).digest()


def _bad(message: str) -> Refusal:
    return Refusal(Reason.BAD_CREDENTIAL, message)
