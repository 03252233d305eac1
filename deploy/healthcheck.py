"""Whether the worker of this container is healthy: exit status 0. It asks the listener that CONNECT_LISTENERS names.

In the image that variable is always set, and wins over a file. Nothing of headrace is imported, as this runs every few seconds.
"""

from __future__ import annotations

import os
import re
import ssl
import sys
import urllib.request

_EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}


def address(listeners: str) -> str:
    """The URL to ask: of the first listener without TLS, else of the first. Raises ValueError if there is none."""
    found = re.findall(r"(https?)://(\[[^\]]*\]|[^:,/\s]*):(\d+)", listeners, re.IGNORECASE)
    if not found:
        raise ValueError(f"CONNECT_LISTENERS has no listener: '{listeners}'")
    scheme, host, port = next((listener for listener in found if listener[0].lower() == "http"), found[0])
    return f"{scheme.lower()}://{_EVERYWHERE.get(host, host)}:{port}/health"


def main() -> None:
    """Exits with 1 and a sentence if the worker is not healthy."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = (
        False,
        ssl.CERT_NONE,
    )  # it is this container, by another name than its certificate's
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        opener.open(address(os.environ.get("CONNECT_LISTENERS", "")), timeout=11).close()
    except (OSError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
