"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests import servers


@pytest.fixture(scope="session", autouse=True)
def _servers() -> Iterator[None]:
    """Stops the servers that tests started."""
    yield from servers.stop_servers()
