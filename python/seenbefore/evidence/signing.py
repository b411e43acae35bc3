"""Ed25519 signatures (RFC 8032) over a bundle's manifest, with the `cryptography` package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seenbefore.errors import StoreUnsupported, UsageError
from seenbefore.evidence.bag import MANIFEST
from seenbefore.evidence.lines import canonical

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ALGORITHM = "ed25519"
_HINT = "make one with: openssl genpkey -algorithm ed25519 -out key.pem"


def read_key(path: str) -> Callable[[bytes], bytes]:
    """A private key in PEM or OpenSSH form, without password → what makes `signature.json` from a manifest.

    Raises UsageError, and StoreUnsupported where `cryptography` isn't installed.
    """
    _library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    key = _loaded(path, (load_pem_private_key, load_ssh_private_key), "private", None)
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} is no Ed25519 private key", path=path, hint=_HINT)
    return lambda manifest: _signature(key, manifest)


def read_public_key(path: str) -> str:
    """A public key in PEM or OpenSSH form, or as 64 hex digits → its 32 bytes in hex. Raises as `read_key`."""
    _library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key

    text = _bytes(path).strip()
    if len(text) == 64 and all(char in b"0123456789abcdef" for char in text):  # noqa: PLR2004 - 32 bytes in hex
        return text.decode()
    key = _loaded(path, (load_pem_public_key, load_ssh_public_key), "public")
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{path} is no Ed25519 public key", path=path, hint="64 hex digits, PEM or OpenSSH form")
    return key.public_bytes_raw().hex()


def holds(public_key: str, signature: str, manifest: bytes) -> bool:
    """Whether a signature in hex is that of the manifest by the key in hex. Raises StoreUnsupported."""
    _library()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), manifest)
    except (InvalidSignature, ValueError):
        return False
    return True


def _signature(key: Ed25519PrivateKey, manifest: bytes) -> bytes:
    return canonical(
        {
            "algorithm": ALGORITHM,
            "public_key": key.public_key().public_bytes_raw().hex(),
            "signature": key.sign(manifest).hex(),
            "signs": MANIFEST,
        }
    )


def _loaded(path: str, readers: tuple[Callable[..., Any], ...], which: str, *password: None) -> Any:
    data = _bytes(path)
    for reader in readers:
        try:
            return reader(data, *password)
        except TypeError as error:
            # How the library says that a key needs a password.
            raise UsageError(f"{path} is locked with a password", path=path, hint="give a key without one") from error
        except Exception:  # noqa: BLE001, S112 - each reader refuses what it doesn't know in its own way
            continue
    raise UsageError(f"{path} holds no {which} key in PEM or OpenSSH form", path=path, hint=_HINT)


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}", path=path, hint="check the path") from error


def _library() -> None:
    try:
        import cryptography  # noqa: F401 - asked for only
    except ImportError as error:
        raise StoreUnsupported(
            "signatures need the package cryptography", hint="install it: pip install 'seenbefore[sign]'"
        ) from error
