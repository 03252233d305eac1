"""The files of deploy/ as far as they can be checked without a cluster: what they name exists, and nobody is root."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
import yaml

from headrace.cli.app import app
from headrace.cli.streams import application
from headrace.config import load_properties
from headrace.config.environment import worker_properties
from headrace.rest import RestServer
from headrace.runtime.distributed_config import DistributedConfig
from tests.rest.conftest import worker_config
from tests.rest.memory_herder import MemoryHerder

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = "1.31"
OF_THE_OPERATOR = "monitoring.coreos.com/"
"""Kinds whose schemas come with Prometheus' operator, not with Kubernetes."""
KUSTOMIZATIONS = sorted(path.parent for path in (DEPLOY / "kubernetes").glob("*/kustomization.yaml"))


def documents(folder: Path) -> Iterator[dict[str, Any]]:
    """Everything in a folder and the folders that it builds on, but for the kustomizations."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    for name in kustomization["resources"]:
        resource = folder / name
        if resource.is_dir():
            yield from documents(resource)
        else:
            yield from yaml.safe_load_all(resource.read_text())


def pod_specs(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    spec = document.get("spec", {})
    if "jobTemplate" in spec:
        spec = spec["jobTemplate"]["spec"]
    if "template" in spec:
        yield spec["template"]["spec"]


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def commands(container: dict[str, Any]) -> list[list[str]]:
    """What a container runs; of a shell, both sides of `||`."""
    words = container.get("command", [])
    return [shlex.split(part) for part in words[2].split("||")] if words[:2] == ["sh", "-c"] else [words] if words else []


PODS = [pod for folder in KUSTOMIZATIONS for document in documents(folder) for pod in pod_specs(document)]


def test_there_is_something_to_check() -> None:
    assert [folder.name for folder in KUSTOMIZATIONS] == ["base", "connectors", "monitoring", "streams", "streams-monitoring"]
    assert len(PODS) >= 5


@pytest.mark.parametrize("pod", PODS, ids=lambda pod: pod["containers"][0]["name"])
def test_pods_are_restricted(pod: dict[str, Any]) -> None:
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    for container in containers(pod):
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert ":" in container["image"] and not container["image"].endswith(":latest")
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}


def environment() -> dict[str, str]:
    lines = (DEPLOY / "kubernetes/base/worker.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line)


def test_the_variables_of_the_config_map_are_a_worker_configuration() -> None:
    (pod,) = (pod for document in documents(DEPLOY / "kubernetes/base") for pod in pod_specs(document))
    own = {entry["name"]: entry.get("value", "") for entry in pod["containers"][0]["env"]}
    properties = worker_properties(environment() | own)
    config = DistributedConfig(properties)
    assert config.group_id == "headrace"
    unknown = properties.keys() - DistributedConfig.definition().options.keys()
    assert all(key.startswith(("spark.", "config.providers.")) for key in unknown), unknown


def test_probes_and_services_name_the_ports_of_the_container() -> None:
    (pod,) = (pod for document in documents(DEPLOY / "kubernetes/base") for pod in pod_specs(document))
    (container,) = pod["containers"]
    (port,) = container["ports"]
    config = DistributedConfig(worker_properties(environment() | {"CONNECT_LISTENERS": "http://:8083"}))
    assert port["containerPort"] == config.listening()[0].port
    assert {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")} == {"/health"}
    services = [d["spec"] for d in documents(DEPLOY / "kubernetes/base") if d["kind"] == "Service"]
    assert {p["targetPort"] for service in services for p in service["ports"]} == {port["name"]}


def selectors(document: dict[str, Any]) -> list[dict[str, str]]:
    """The labels of the pods that something is about."""
    spec = document.get("spec", {})
    if document["kind"] == "Service":
        return [spec["selector"]]
    return [spec[name].get("matchLabels", {}) for name in ("selector", "podSelector") if name in spec]


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl renders the kustomizations, and is not installed")
@pytest.mark.parametrize("folder", KUSTOMIZATIONS, ids=lambda folder: folder.name)
@pytest.mark.slow
def test_kustomizations_render_and_every_name_in_them_exists(folder: Path) -> None:
    everything = rendered(folder)
    maps = {d["metadata"]["name"] for d in everything if d["kind"] == "ConfigMap"}
    (workers,) = (d for d in everything if d["kind"] in ("StatefulSet", "Deployment"))
    labels = workers["spec"]["template"]["metadata"]["labels"].items()
    for document in everything:  # an empty selector is one of every pod of the namespace
        for selector in selectors(document):
            assert selector and selector.items() <= labels, document
    if workers["kind"] == "Deployment":
        return
    (container,) = workers["spec"]["template"]["spec"]["containers"]
    assert container["envFrom"][0]["configMapRef"]["name"] in maps
    assert workers["spec"]["serviceName"] in {d["metadata"]["name"] for d in everything if d["kind"] == "Service"}


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl renders the kustomizations, and is not installed")
@pytest.mark.parametrize("folder", KUSTOMIZATIONS, ids=lambda folder: folder.name)
@pytest.mark.slow
def test_what_is_rendered_is_as_the_schemas_of_kubernetes_want_it(folder: Path) -> None:
    import kubernetes_validate

    documents = [d for d in rendered(folder) if not d["apiVersion"].startswith(OF_THE_OPERATOR)]
    assert len(documents) >= 3
    for document in documents:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    (workers,) = (d for d in documents if d["kind"] in ("StatefulSet", "Deployment"))
    workers["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(workers, KUBERNETES, strict=True)


def rendered(folder: Path) -> list[dict[str, Any]]:
    answer = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(answer.stdout))


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl renders the kustomizations, and is not installed")
@pytest.mark.parametrize("name", ["monitoring", "streams-monitoring"])
@pytest.mark.slow
def test_what_the_operator_collects_of_pods_has_the_job_that_the_alerts_ask_for(name: str) -> None:
    documents = rendered(DEPLOY / "kubernetes" / name)
    (monitor,) = (d["spec"] for d in documents if d["kind"] == "PodMonitor")
    (pod,) = (d["spec"]["template"] for d in documents if d["kind"] in ("StatefulSet", "Deployment"))
    labels = pod["metadata"]["labels"]
    assert monitor["selector"]["matchLabels"].items() <= labels.items()
    ports = {port["name"] for container in pod["spec"]["containers"] for port in container["ports"]}
    assert {endpoint["port"] for endpoint in monitor["podMetricsEndpoints"]} <= ports
    jobs = set(re.findall(r'job="([^"]*)"', (DEPLOY / "prometheus" / "rules.yml").read_text()))
    assert jobs == {labels[monitor["jobLabel"]]}
    allowed = [
        port["port"] for d in documents if d["kind"] == "NetworkPolicy" for rule in d["spec"]["ingress"] for port in rule["ports"]
    ]
    assert len(allowed) == 2 and set(allowed) == {endpoint["port"] for endpoint in monitor["podMetricsEndpoints"]}


def test_the_alerts_of_the_operator_are_those_of_the_file() -> None:
    rule = yaml.safe_load((DEPLOY / "kubernetes/monitoring/prometheusrule.yaml").read_text())
    assert rule["spec"] == yaml.safe_load((DEPLOY / "prometheus" / "rules.yml").read_text()), "scripts/prometheus_rule.py"


def command_exists(words: list[str]) -> bool:
    """Whether `headrace …` is a command with these options."""
    command: Any = typer.main.get_command(app)
    rest = words[1:]
    while rest and hasattr(command, "commands") and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    options = {option for parameter in command.params for option in parameter.opts}
    whole = not hasattr(command, "commands") or command.invoke_without_command
    return words[0] == "headrace" and whole and {w for w in rest if w.startswith("--")} <= options


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in lines]


def test_commands_of_containers_exist() -> None:
    for pod in PODS:
        for container in containers(pod):
            assert all(command_exists(words) for words in commands(container)), container
    entry = [yaml.safe_load(rest) for name, rest in instructions() if name == "ENTRYPOINT"]
    assert len(entry) == 1 and command_exists(entry[0])
    for name, rest in instructions():
        if name == "RUN" and rest.startswith("headrace "):
            assert command_exists(shlex.split(rest.split("&&")[0])), rest


def test_the_dockerfile_ends_as_somebody_who_is_not_root_on_pinned_images() -> None:
    steps = instructions()
    assert [rest for name, rest in steps if name == "USER"][-1] == "1001"
    images = [rest.split()[0] for name, rest in steps if name == "FROM"]
    assert images and all(re.fullmatch(r"[\w/.-]+:[\w.-]*\d[\w.-]*", image) for image in images), images
    assert {name for name, _ in steps} >= {"HEALTHCHECK", "EXPOSE", "STOPSIGNAL"}
    assert "ADD" not in {name for name, _ in steps}


def test_what_the_dockerfile_copies_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    for name, rest in instructions():
        if name == "COPY" and "--from" not in rest:
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert source.split("/")[0] not in ignored


def copied() -> dict[str, Path]:
    """The files that are copied into the image one by one, by where they are there."""
    steps = [rest.split() for name, rest in instructions() if name == "COPY" and "--from" not in rest]
    files = [(folder, ROOT / source) for *sources, folder in steps if folder.startswith("/") for source in sources]
    return {folder + source.name: source for folder, source in files}


def test_the_image_looks_for_plugins_where_it_has_a_directory_for_them() -> None:
    (command,) = (json.loads(rest) for name, rest in instructions() if name == "CMD")
    path = load_properties(copied()[command[0]])["plugin.path"]
    assert [rest for name, rest in instructions() if name == "RUN" and rest.endswith(f"mkdir {path}")]


@pytest.fixture
def healthcheck() -> ModuleType:
    (command,) = (json.loads(rest.partition("CMD ")[2]) for name, rest in instructions() if name == "HEALTHCHECK")
    spec = importlib.util.spec_from_file_location("healthcheck", copied()[command[-1]])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("listeners", "url"),
    [
        ("http://:8083", "http://127.0.0.1:8083"),
        ("HTTPS://0.0.0.0:8443", "https://127.0.0.1:8443"),
        ("https://w:8443, http://[::]:8084", "http://[::1]:8084"),
        ("https://[fe80::1]:8443,https://:8444", "https://[fe80::1]:8443"),
    ],
)
def test_the_listener_that_there_is_is_asked_for_its_health(healthcheck: ModuleType, listeners: str, url: str) -> None:
    assert healthcheck.address(listeners) == f"{url}/health"


def test_the_container_is_healthy_while_its_worker_says_so(healthcheck: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    herder = MemoryHerder()
    server = RestServer(herder, worker_config())  # type: ignore[arg-type]
    server.start()
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("CONNECT_LISTENERS", server.urls[0].rstrip("/"))
    healthcheck.main()
    herder.up = False
    with pytest.raises(SystemExit, match="HTTP Error 503"):
        healthcheck.main()
    server.stop()
    for listeners in (server.urls[0].rstrip("/"), ""):
        monkeypatch.setenv("CONNECT_LISTENERS", listeners)
        with pytest.raises(SystemExit):
            healthcheck.main()


UNIT = DEPLOY / "systemd/headrace.service"


def unit_program() -> list[str]:
    (command,) = (line.partition("=")[2] for line in UNIT.read_text().splitlines() if line.startswith("ExecStart="))
    return shlex.split(command)


def test_the_unit_runs_a_command_that_exists_as_a_user_of_its_own() -> None:
    program, *arguments = unit_program()
    assert command_exists([Path(program).name, *arguments])
    assert re.findall("^User=(.*)$", UNIT.read_text(), re.MULTILINE) == ["headrace"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze checks the unit, and is not installed")
@pytest.mark.slow
def test_systemd_has_no_complaint_about_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace(unit_program()[0], sys.executable))
    verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert [line for line in verified.stderr.splitlines() if UNIT.name in line] == []


def test_the_streams_example_is_a_topology_with_topics_to_be_created_by_hand() -> None:
    folder = DEPLOY / "kubernetes/streams"
    topology, settings = application.load(str(folder / "words.py"), folder / "words.properties", None)
    assert settings["internal.topics.setup"] == "manual"
    assert "(stores: [counts])" in topology.describe()
