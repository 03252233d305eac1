"""The users of `rest.authentication.users.file`: lines `user=role[,role]:hash`, `#` begins a comment line."""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import ConfigError
from headrace.rest import passwords
from headrace.rest.roles import Role

_OPTION = "rest.authentication.users.file"
_REMEMBERED = 1000


@dataclass(frozen=True)
class User:
    """A user."""

    role: Role
    """The highest of their roles."""
    hash_text: str
    """The hash of their password, as the users' file has it."""


class Users:
    """Knows users by name and password. Thread-safe."""

    def __init__(self, users: Mapping[str, User]) -> None:
        self._users = users
        self._secret = os.urandom(32)
        self._nobody = passwords.hashed(os.urandom(16).hex())
        self._verified: dict[bytes, Role] = {}  # credentials that were right, so that not every request costs a hash

    def role(self, name: str | None, password: str | None) -> Role | None:
        """The role for these credentials; None for an unknown user or a wrong password, in the same time."""
        if name is None or password is None:
            return None
        digest = hmac.digest(self._secret, f"{len(name)}:{name}{password}".encode("utf-8", "surrogatepass"), "sha256")
        if (user_roles := self._verified.get(digest)) is not None:
            return user_roles
        user = self._users.get(name)
        right = passwords.fits(password, user.hash_text if user else self._nobody)
        if user is None or not right:
            return None
        if len(self._verified) >= _REMEMBERED:
            self._verified.clear()
        self._verified[digest] = user.role
        return user.role


def read_users(file: Path) -> Users:
    """The users of a file. Raises ConfigError that names the file and the line, and no hash."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{_OPTION}: {file} cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'}).") from None
    users: dict[str, User] = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                name, user = _user(line.strip())
                if name in users:
                    raise ConfigError(f"user '{name}' is there twice.")
                users[name] = user
            except ConfigError as error:
                raise ConfigError(f"{_OPTION}: line {number} of {file}: {error}") from None
    if not users:
        raise ConfigError(f"{_OPTION}: {file} has no users; add lines `user=role:hash`, hashes by `headrace hash-password`.")
    return Users(users)


def _user(line: str) -> tuple[str, User]:
    name, equals, value = line.partition("=")
    roles, colon, hash_text = value.partition(":")
    if not (equals and colon and name.strip() and ":" not in name):
        raise ConfigError("expected user=role[,role]:hash, the user's name without a colon.")
    known_roles = [role for role in Role if role.name.lower() in {text.strip() for text in roles.split(",")}]
    strange = [text.strip() for text in roles.split(",") if text.strip() not in {role.name.lower() for role in Role}]
    if strange:
        raise ConfigError(f"'{strange[0]}' is no role; there are {', '.join(role.name.lower() for role in Role)}.")
    passwords.check_form(hash_text.strip())
    return name.strip(), User(max(known_roles), hash_text.strip())
