"""Who may do what, over a real server: headrace's own users and roles, and Kafka's BasicAuthSecurityRestExtension."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace.cluster.herder import Herder
from headrace.connect_config import validation
from headrace.errors import ConfigError
from headrace.rest import RestServer, logs, passwords, period_limit
from headrace.rest.authentication import BoundedLog, credentials
from headrace.rest.server import exposure
from tests.rest.conftest import Answer, Client, worker_config
from tests.rest.memory_herder import MemoryHerder

EXTENSION = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
CONFIG = {"connector.class": "FileStreamSource", "file": "/x", "topic": "t"}
STRANGER, WRONG = None, "rita:guess"

As = Callable[..., Answer]


def basic(credentials: str | None) -> dict[str, str]:
    return {} if credentials is None else {"Authorization": "Basic " + base64.b64encode(credentials.encode()).decode()}


def caller(call: Client) -> As:
    """Sends a request as `user:password`, None being nobody."""
    return lambda who, method, path, body=None, accept="*/*": call(
        method, path, body, {"Accept": accept, **basic(who), **({} if body is None else {"Content-Type": "application/json"})}
    )


def said_by_server(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the server has logged: what other tests have left running in this process may log as well."""
    return [record.getMessage() for record in caplog.records if record.name == logs.SERVER.name]


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Settings with a user of each role, whose password is the name backwards."""
    file = tmp_path_factory.mktemp("users") / "users"
    lines = [f"{name}={role}:{passwords.hashed(name[::-1])}" for name, role in
             (("rita", "read"), ("olaf", "operate"), ("anna", "read,admin"))]  # fmt: skip
    file.write_text("# users of the test\n\n" + "\n".join(lines) + "\n")
    return {"rest.authentication": "basic", "rest.authentication.users.file": str(file)}


class ValidatingHerder(MemoryHerder):
    """Validates as the real one does, with a config provider."""

    def validate(self, plugin: str, config: dict[str, str | None], *, look_up: bool) -> dict[str, Any]:
        environment = {"config.providers": "env", "config.providers.env.class": "EnvVarConfigProvider"}
        return validation.validate(plugin, config, worker_config(environment), look_up=look_up)


@pytest.fixture(scope="module")
def ask(users: dict[str, str]) -> Iterator[As]:
    """A server that knows them, for all tests, over a connector `c`."""
    herder: Any = ValidatingHerder()
    herder.create("c", dict(CONFIG))
    server = RestServer(herder, worker_config(users))
    server.start()
    yield caller(Client(server.urls[0]))
    server.stop()


@pytest.fixture
def kafkas(serve: Callable[..., Client], tmp_path: Path) -> Callable[[str], As]:
    """A server with Kafka's own extension and a properties file of this content."""

    def start(content: str) -> As:
        (tmp_path / "credentials").write_text(content)
        (tmp_path / "jaas.conf").write_text(
            "/* of the cluster */ KafkaClient { some.OtherModule required; };\n"
            "KafkaConnect {\n  org.apache.kafka.connect.rest.basic.auth.extension.PropertyFileLoginModule required // here\n"
            f'  file="{tmp_path / "credentials"}";\n}};\n'
        )
        return caller(serve({
            "rest.extension.classes": EXTENSION, "java.security.auth.login.config": str(tmp_path / "jaas.conf")
        }))  # fmt: skip

    return start


def test_a_stranger_learns_that_there_is_a_password(ask: As) -> None:
    for who in (STRANGER, WRONG, "nobody:x", "rita:"):
        answer = ask(who, "GET", "/connectors")
        assert (answer.status, answer.json["error_code"]) == (401, 401)
        assert answer.headers["www-authenticate"] == 'Basic realm="headrace", charset="UTF-8"'


def test_the_document_says_that_there_are_users(ask: As) -> None:
    document = ask("rita:atir", "GET", "/openapi.json").json
    assert document["security"] == [{"basic": []}]
    assert document["components"]["securitySchemes"] == {"basic": {"type": "http", "scheme": "basic"}}


def test_health_is_open(ask: As) -> None:
    assert ask(STRANGER, "GET", "/health").status == 200
    assert ask(STRANGER, "GET", "/health/").status == 200
    assert ask(STRANGER, "GET", "/metrics").status == 401


def test_what_workers_sign_among_themselves_needs_no_user(ask: As) -> None:
    for method, path, body in (("POST", "/connectors/c/tasks", []), ("PUT", "/connectors/c/fence", None)):
        assert ask(STRANGER, method, path, body).message == "Internal request missing required signature"


@pytest.mark.parametrize(
    ("method", "path", "body", "lowest"),
    [
        ("GET", "/connectors", None, "read"),
        ("HEAD", "/connectors/c", None, "read"),
        ("GET", "/connectors/c/config", None, "read"),
        ("GET", "/admin/loggers", None, "read"),
        ("GET", "/metrics", None, "read"),
        ("PUT", "/connector-plugins/FileStreamSource/config/validate", CONFIG, "read"),
        ("POST", "/headrace/preview", {}, "admin"),
        ("POST", "/headrace/dead-letters/letters/preview", {}, "admin"),
        ("PUT", "/connectors/c/pause", None, "operate"),
        ("PUT", "/connectors/c/pause/", None, "operate"),
        ("PUT", "/connectors/c/resume", None, "operate"),
        ("PUT", "/connectors/c/stop", None, "operate"),
        ("POST", "/connectors/c/restart", None, "operate"),
        ("POST", "/connectors/c/tasks/0/restart", None, "operate"),
        ("PUT", "/connectors/c/topics/reset", None, "operate"),
        ("DELETE", "/connectors/c/offsets", None, "operate"),
        ("POST", "/connectors", {"name": "d", "config": CONFIG}, "admin"),
        ("PUT", "/connectors/c/config", CONFIG, "admin"),
        ("PATCH", "/connectors/c/config", {"topic": "u"}, "admin"),
        ("DELETE", "/connectors/c", None, "admin"),
        ("PUT", "/admin/loggers/some.logger", {"level": "INFO"}, "admin"),
    ],
)  # fmt: skip
def test_each_request_needs_its_role(method: str, path: str, body: object, lowest: str, ask: As) -> None:
    roles = ("read", "operate", "admin")
    for role, who in zip(roles, ("rita:atir", "olaf:falo", "anna:anna"), strict=True):
        answer = ask(who, method, path, body)
        if roles.index(role) < roles.index(lowest):
            name = who.partition(":")[0]
            assert (answer.status, answer.message) == (403, f"This needs the role {lowest}; {name} has {role}.")
        else:
            assert answer.status not in (401, 403), answer.text


def test_only_an_admin_learns_by_errors_what_a_config_provider_says(ask: As, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_TEST", "hunter")
    sink = {"connector.class": "FileStreamSink", "name": "s", "topics.regex": "hu.*"}
    config = {**sink, "errors.deadletterqueue.topic.name": "${env:SECRET_OF_THE_TEST}"}
    path = "/connector-plugins/FileStreamSink/config/validate"
    found = {who: ask(who, "PUT", path, config).json["error_count"] for who in ("rita:atir", "olaf:falo", "anna:anna")}
    assert found == {"rita:atir": 0, "olaf:falo": 0, "anna:anna": 1}


def test_refusals_are_logged_with_name_and_address_and_not_without_end(
    serve: Callable[..., Client], users: dict[str, str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(period_limit, "monotonic", lambda: 0.0)  # however long 22 checks of passwords take
    ask = caller(serve(users))
    with caplog.at_level(logging.WARNING):
        for _ in range(22):
            ask("mal\nlory:secret-guess", "GET", "/connectors")
    said = said_by_server(caplog)
    assert said[0] == (
        "Refused GET '/connectors' from 127.0.0.1: User 'mal\\nlory' is not known here, or the password is wrong"
    )  # fmt: skip
    assert len(said) == 20
    assert "secret-guess" not in "".join(said)


def test_what_was_not_logged_is_counted(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(period_limit, "monotonic", lambda: now_s[0])
    log = BoundedLog(max_logged=2, period_s=60.0)
    with caplog.at_level(logging.WARNING):
        for text in ("one", "two", "three", "four", "five"):
            log.warning(text)
        now_s[0] = 60.0
        log.warning("six")
    said = said_by_server(caplog)
    assert said == ["one", "two", "3 more requests were refused and not logged", "six"]


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (None, (None, None)),
        ("Basic", (None, None)),
        ("Basic !!!", (None, None)),
        ("Bearer abc", (None, None)),
        ("basic " + base64.b64encode("ä:b:c".encode()).decode(), ("ä", "b:c")),
        ("Basic " + base64.b64encode("ä:b".encode("latin-1")).decode(), ("ä", "b")),
        ("Basic " + base64.b64encode(b"no colon").decode(), (None, None)),
    ],
)
def test_credentials_are_read_or_are_none(header: str | None, found: tuple[str | None, str | None]) -> None:
    assert credentials(header) == found


def test_passwords_are_kept_as_salted_hashes() -> None:
    one, two = passwords.hashed("pässword"), passwords.hashed("pässword")
    assert one != two
    assert one.startswith("scrypt$14$8$1$")
    assert passwords.fits("pässword", one)
    assert not passwords.fits("password", one)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("rita", "line 1 of {file}: expected user=role[,role]:hash, the user's name without a colon."),
        ("rita=boss:x", "line 1 of {file}: 'boss' is no role; there are read, operate, admin."),
        ("rita=read:s3cret", "line 1 of {file}: what stands behind the roles is no hash of a password; make one with "
                             "`headrace hash-password`."),
        ("rita=read:scrypt$60$8$1$aaaa$aaaa", "line 1 of {file}: what stands behind"),
        ("# nobody", "{file} has no users; add lines `user=role:hash`, hashes by `headrace hash-password`."),
    ],
)  # fmt: skip
def test_a_bad_file_of_users_is_one_sentence(line: str, complaint: str, tmp_path: Path, herder: Herder) -> None:
    (tmp_path / "users").write_text(line)
    with pytest.raises(ConfigError) as error:
        RestServer(herder, worker_config({
            "rest.authentication": "basic", "rest.authentication.users.file": str(tmp_path / "users")
        }))  # fmt: skip
    assert str(error.value).startswith("rest.authentication.users.file: " + complaint.format(file=tmp_path / "users"))
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"rest.authentication": "basic"}, "rest.authentication=basic needs rest.authentication.users.file."),
        ({"rest.extension.classes": "com.corp.Ours"},
         "rest.extension.classes: com.corp.Ours is a Java class, which headrace cannot load; "),
        ({"rest.extension.classes": EXTENSION}, f"{EXTENSION} needs a JAAS file with the entry KafkaConnect: "),
        ({"rest.extension.classes": EXTENSION, "java.security.auth.login.config": "/no/jaas"},
         "The JAAS file /no/jaas cannot be read (No such file or directory)."),
        ({"rest.extension.classes": EXTENSION, "rest.authentication": "basic"},
         "rest.authentication=basic and BasicAuthSecurityRestExtension are two ways to one end; keep one."),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_one_sentence(settings: dict[str, str], complaint: str, herder: Herder) -> None:
    with pytest.raises(ConfigError) as error:
        RestServer(herder, worker_config(settings))
    assert str(error.value).startswith(complaint)


def test_kafkas_extension_refuses_in_kafkas_words(kafkas: Callable[[str], As]) -> None:
    ask = kafkas("rita=atir\n")
    for who in (STRANGER, WRONG, "nobody:", "rita:"):
        answer = ask(who, "GET", "/connectors")
        assert (answer.status, answer.text) == (401, "User cannot access the resource.")
        assert "www-authenticate" not in answer.headers
    for path, accept, prompts in (("/", "text/html", True), ("/ui", "*/*", True), ("/", "*/*", False)):
        answer = ask(STRANGER, "GET", path, accept=accept)
        assert (answer.status, "www-authenticate" in answer.headers) == (401, prompts)
    assert ask("rita:atir", "POST", "/connectors", {"name": "c", "config": CONFIG}).status == 201
    assert ask(STRANGER, "PUT", "/connectors/c/fence").status == 400  # of a worker that did not sign it
    assert ask(STRANGER, "GET", "/health").status == 200


def test_an_empty_file_of_kafkas_extension_lets_everybody_in(kafkas: Callable[[str], As]) -> None:
    assert kafkas("# none yet\n")(STRANGER, "GET", "/connectors").status == 200


def test_the_jaas_file_may_be_the_one_of_kafka_opts(
    serve: Callable[..., Client], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "credentials").write_text("rita=atir\n")
    (tmp_path / "jaas.conf").write_text(
        f'KafkaConnect {{ x.PropertyFileLoginModule required file="{tmp_path / "credentials"}"; }};'
    )
    monkeypatch.setenv("KAFKA_OPTS", f"-Xmx1g -Djava.security.auth.login.config={tmp_path / 'jaas.conf'}")
    assert caller(serve({"rest.extension.classes": EXTENSION}))("rita:atir", "GET", "/connectors").status == 200


def test_a_listener_that_others_reach_without_a_password_is_warned_of(
    serve: Callable[..., Client], users: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        serve({"listeners": "http://127.0.0.1:0"})
        assert not said_by_server(caplog)
        serve({"listeners": "http://0.0.0.0:0"})
        assert said_by_server(caplog)[-1].startswith("ANYBODY WHO REACHES http://0.0.0.0:")
        serve({**users, "listeners": "http://0.0.0.0:0"})
        assert said_by_server(caplog)[-1].startswith("Passwords cross the network in the clear at http://0.0.0.0:")
    assert exposure("u", ["127.0.0.1", "::1"], None, authenticated=False) is None
