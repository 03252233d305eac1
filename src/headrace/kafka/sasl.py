"""SASL settings of the Java clients for librdkafka: user and password out of `sasl.jaas.config`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headrace.config.client_options import client_value
from headrace.errors import ConfigError
from headrace.kafka.jaas import Login, parse_jaas

_PREFIX = "unsecuredLogin"
_HANDLERS = {"", "OAuthBearerLoginCallbackHandler", "OAuthBearerUnsecuredLoginCallbackHandler"}


def sasl_settings(props: Mapping[str, str]) -> dict[str, str]:
    """Translate `sasl.*`.

    Takes Java client settings; returns librdkafka's, empty if `security.protocol` is not a SASL one.
    Raises ConfigError for a mechanism that librdkafka does not have, or a login that it cannot do.
    """
    if not props.get("security.protocol", "").strip().upper().startswith("SASL"):
        return {}
    mechanism = _mechanism(props)
    try:
        login = _MECHANISMS[mechanism]
    except KeyError:
        raise ConfigError.invalid("sasl.mechanism", mechanism, f"must be one of: {', '.join(_MECHANISMS)}") from None
    return {"sasl.mechanism": mechanism, **login(props)}


def _mechanism(props: Mapping[str, str]) -> str:
    return client_value("admin", props, "sasl.mechanism").upper()


def _login(props: Mapping[str, str], *modules: str) -> Login:
    text = props.get("sasl.jaas.config", "").strip()
    if not text:
        raise ConfigError(
            f"sasl.jaas.config is missing: sasl.mechanism={_mechanism(props)} needs it, naming the login module {modules[0]}."
        )
    login = parse_jaas(text)
    if login.module not in modules:
        raise ConfigError(
            f"Invalid value [hidden] for configuration sasl.jaas.config: the login module {login.module} does not fit "
            f"sasl.mechanism={_mechanism(props)}, which takes {' or '.join(modules)}."
        )
    return login


def _password(module: str) -> Callable[[Mapping[str, str]], dict[str, str]]:
    def settings(props: Mapping[str, str]) -> dict[str, str]:
        options = _login(props, module).options
        missing = [name for name in ("username", "password") if not options.get(name)]
        if missing:
            raise ConfigError(f"Invalid value [hidden] for configuration sasl.jaas.config: it has no {' and no '.join(missing)}.")
        return {"sasl.username": options["username"], "sasl.password": options["password"]}

    return settings


def _kerberos(props: Mapping[str, str]) -> dict[str, str]:
    options = _login(props, "Krb5LoginModule").options
    settings = {"sasl.kerberos.service.name": props.get("sasl.kerberos.service.name") or options.get("serviceName", "kafka")}
    if "principal" in options:
        settings["sasl.kerberos.principal"] = options["principal"]
    if "keyTab" in options:
        settings["sasl.kerberos.keytab"] = options["keyTab"]
    return settings


def _oauth(props: Mapping[str, str]) -> dict[str, str]:
    handler = props.get("sasl.login.callback.handler.class", "").strip().rpartition(".")[2]
    if handler not in _HANDLERS:
        raise ConfigError.invalid(
            "sasl.login.callback.handler.class",
            handler,
            "only Kafka's own OAuthBearerLoginCallbackHandler can be used here: other ones are Java code",
        )
    options = _login(props, "OAuthBearerLoginModule").options
    endpoint = props.get("sasl.oauthbearer.token.endpoint.url", "").strip()
    return _token_endpoint(props, options, endpoint) if endpoint else _unsecured(options)


def _token_endpoint(props: Mapping[str, str], options: Mapping[str, str], endpoint: str) -> dict[str, str]:
    login_settings = {
        "client.id": props.get("sasl.oauthbearer.client.credentials.client.id") or options.get("clientId"),
        "client.secret": props.get("sasl.oauthbearer.client.credentials.client.secret") or options.get("clientSecret"),
        "scope": props.get("sasl.oauthbearer.scope") or options.get("scope"),
        "extensions": ",".join(f"{k.removeprefix('extension_')}={v}" for k, v in options.items() if k.startswith("extension_")),
    }
    settings = {f"sasl.oauthbearer.{name}": value for name, value in login_settings.items() if value}
    return {"sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.token.endpoint.url": endpoint, **settings}


def _unsecured(options: Mapping[str, str]) -> dict[str, str]:
    """Kafka's unsecured tokens, for tests and development (KIP-255)."""
    claim = options.get(f"{_PREFIX}PrincipalClaimName", "sub")
    principal = options.get(f"{_PREFIX}StringClaim_{claim}")
    if not principal:
        raise ConfigError(
            "sasl.mechanism=OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url, "
            f'or for tests an unsecured token in sasl.jaas.config: {_PREFIX}StringClaim_sub="USER".'
        )
    parts = [f"principalClaimName={claim}", f"principal={principal}"]
    if seconds := options.get(f"{_PREFIX}LifetimeSeconds"):
        parts.append(f"lifeSeconds={seconds}")
    return {"enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": " ".join(parts)}


_MECHANISMS: dict[str, Callable[[Mapping[str, str]], dict[str, str]]] = {
    "PLAIN": _password("PlainLoginModule"),
    "SCRAM-SHA-256": _password("ScramLoginModule"),
    "SCRAM-SHA-512": _password("ScramLoginModule"),
    "OAUTHBEARER": _oauth,
    "GSSAPI": _kerberos,
}
