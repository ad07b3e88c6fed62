"""What the clients of object stores raise, told as errors of ours. Recognised by code and name: none is imported."""

from __future__ import annotations

from pathlib import Path

from core.errors import AssayError, ConfigError, StoreError

TAKEN = frozenset({"PreconditionFailed", "412"})
CONFLICT = frozenset({"ConditionalRequestConflict", "OperationAborted", "409"})
UNKNOWN_USER = frozenset({"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken"})
NO_CREDENTIALS = frozenset(
    {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "ProfileNotFound",
     "DefaultCredentialsError", "TokenRetrievalError"}
)  # fmt: skip
"""Of botocore and google-auth."""
UNREACHABLE = frozenset(
    {"EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "ConnectionClosedError",
     "ClientConnectorError", "HTTPClientError"}
)  # fmt: skip
"""Of botocore and aiohttp."""


def told(error: Exception, file: Path) -> AssayError:
    """`error`, raised while working on `file`, with what to do about it."""
    place, text = str(file), str(error) or type(error).__name__
    if type(error).__name__ in NO_CREDENTIALS or _code(error) in UNKNOWN_USER:
        return ConfigError(f"{place}: no valid credentials ({text})", file=place, remedy=_credentials(place))
    if type(error).__name__ in UNREACHABLE:
        return StoreError(f"{place}: the store cannot be reached ({text})", file=place,
                          remedy="check the network and AWS_ENDPOINT_URL, then `assay resume`")  # fmt: skip
    if isinstance(error, PermissionError):
        remedy = "allow these credentials to list, read, put and delete there, then `assay resume`"
        return StoreError(f"{place}: the store refuses ({text})", file=place, remedy=remedy)
    return StoreError(f"{place}: {text}", file=place, remedy="check the store, then `assay resume`")


def no_bucket(file: Path) -> ConfigError:
    """The fault of a place in a bucket that is not there."""
    remedy = "make the bucket, or correct ASSAY_RESULTS"
    return ConfigError(f"{file}: there is no such bucket", file=str(file), path="ASSAY_RESULTS", remedy=remedy)


def is_taken(error: BaseException | None) -> bool:
    """Whether a conditional put was refused because the object exists."""
    return isinstance(error, FileExistsError) or _code(error) in TAKEN


def is_conflict(error: BaseException | None) -> bool:
    """Whether a conditional put met another one that was under way, so that it must be sent again."""
    return _code(error) in CONFLICT


def lacks_bucket(error: BaseException) -> bool:
    """Whether `error` says that the bucket is not there."""
    return _code(error) == "NoSuchBucket"


def _code(error: BaseException | None) -> str:
    """The store's own code for what went wrong; fsspec raises errors of Python's from those that carry it."""
    for link in (error, getattr(error, "__cause__", None)):
        response = getattr(link, "response", None)
        if isinstance(response, dict):
            return str(response.get("Error", {}).get("Code", ""))
    return str(getattr(error, "code", "") or "")


def _credentials(place: str) -> str:
    if place.startswith("s3:"):
        return "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; AWS_ENDPOINT_URL where it is not AWS"
    return "set GOOGLE_APPLICATION_CREDENTIALS, or log in with `gcloud auth application-default login`"
