"""TLS of `https://` listeners, by Kafka's `ssl.*` settings (`headrace.kafka.ssl_context`).

As in Kafka Connect, the settings under the prefix of the listeners (`listeners.https.`) count, and if there are none at all those
without a prefix.
"""

from __future__ import annotations

import ssl

from headrace.config.prefixes import under
from headrace.errors import ConfigError
from headrace.kafka import ssl_context
from headrace.runtime.worker_config import WorkerConfig

LISTENERS, ADMIN_LISTENERS = "listeners.https.", "admin.listeners.https."
_CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


def server_context(config: WorkerConfig, prefix: str = LISTENERS) -> ssl.SSLContext:
    """The TLS context of a listener. Raises ConfigError for missing or unreadable stores."""
    props = _settings(config, prefix)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ssl_context.set_versions(context, props)
    if not ssl_context.load_key(context, props):
        raise ConfigError(
            "An https:// listener needs a key: set ssl.keystore.location, or ssl.keystore.key and its certificate chain."
        )
    context.verify_mode = client_auth(config, prefix)
    if context.verify_mode != ssl.CERT_NONE and not ssl_context.load_trust(context, props):
        raise ConfigError("ssl.client.auth needs the certificates that clients are trusted by: set ssl.truststore.location.")
    return context


def client_context(config: WorkerConfig, prefix: str = LISTENERS) -> ssl.SSLContext:
    """The TLS context for requests to other workers of the group, which are configured alike. Raises ConfigError."""
    return ssl_context.client_context(_settings(config, prefix))


def client_auth(config: WorkerConfig, prefix: str = LISTENERS) -> ssl.VerifyMode:
    """Whether clients have to show a certificate (`ssl.client.auth`). Raises ConfigError."""
    return _CLIENT_AUTH[config.definition().value("ssl.client.auth", _settings(config, prefix))]


def _settings(config: WorkerConfig, prefix: str) -> dict[str, str]:
    settings = {k: str(v) for k, v in config.originals.items() if v is not None}
    return under(settings, prefix) or {k: v for k, v in settings.items() if k.startswith("ssl.")}
