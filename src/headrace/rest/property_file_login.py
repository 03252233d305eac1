"""Kafka Connect's own basic authentication: `BasicAuthSecurityRestExtension` and its JAAS login module `PropertyFileLoginModule`.

The entry `KafkaConnect` of a JAAS file names a properties file of users and passwords. Whoever is in it may do everything; an
empty file lets everybody in.
"""

from __future__ import annotations

import hmac
import os
import re
from pathlib import Path

from headrace.config import load_properties
from headrace.errors import ConfigError
from headrace.kafka.jaas import parse_jaas_file
from headrace.rest.roles import Role

EXTENSION = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
JAAS_FILE = "java.security.auth.login.config"
_ENTRY, _MODULE = "KafkaConnect", "PropertyFileLoginModule"


class PropertyFileLogin:
    """The users of one properties file, read at construction."""

    def __init__(self, file: Path) -> None:
        """Raises SetupError if the file cannot be read."""
        self._passwords = load_properties(file)

    def role(self, name: str | None, password: str | None) -> Role | None:
        """Admin for a user of the file with this password, and for all users if the file is empty; else None."""
        if not self._passwords:
            return Role.ADMIN
        right = self._passwords.get(name or "")
        password_bytes = (password or "").encode("utf-8", "surrogatepass")
        same = hmac.compare_digest(password_bytes, (right or "").encode("utf-8", "surrogatepass"))
        return Role.ADMIN if same and right is not None and password is not None else None


def property_file_login(jaas_file: str | None) -> PropertyFileLogin:
    """The login that a JAAS file configures. jaas_file: the worker's setting, None: where KAFKA_OPTS says.

    Raises ConfigError in one sentence for what is missing.
    """
    file = jaas_file or _from_kafka_opts()
    if not file:
        raise ConfigError(
            f"{EXTENSION} needs a JAAS file with the entry {_ENTRY}: name it by {JAAS_FILE} in the worker's properties, or by "
            f"-D{JAAS_FILE}=… in KAFKA_OPTS."
        )
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The JAAS file {file} cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'}).") from None
    logins = parse_jaas_file(text).get(_ENTRY)
    if logins is None or len(logins) != 1 or logins[0].module != _MODULE or not logins[0].options.get("file"):
        raise ConfigError(
            f"The JAAS file {file} needs an entry {_ENTRY} with one login module, "
            f'org.apache.kafka.connect.rest.basic.auth.extension.{_MODULE} required file="…";, the one that headrace has.'
        )
    return PropertyFileLogin(Path(logins[0].options["file"]))


def _from_kafka_opts() -> str | None:
    match = re.search(rf"-D{re.escape(JAAS_FILE)}=(\"[^\"]*\"|\S+)", os.environ.get("KAFKA_OPTS", ""))
    return match[1].strip('"') if match else None
