from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import headrace

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("command", ["worker", "standalone"])
def test_a_missing_option_is_one_sentence_and_status_1(command: str, tmp_path: Path):
    (tmp_path / "worker.properties").write_text("bootstrap.servers=localhost:9092\n")
    answer = headrace(command, str(tmp_path / "worker.properties"))
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr == 'error: Missing required configuration "key.converter" which has no default value.\n'


def test_a_connector_file_that_is_not_json_is_one_sentence_and_status_1(tmp_path: Path):
    converter = "org.apache.kafka.connect.json.JsonConverter"
    (tmp_path / "worker.properties").write_text(
        f"bootstrap.servers=localhost:9\noffset.storage.file.filename={tmp_path}/offsets\n"
        f"key.converter={converter}\nvalue.converter={converter}\n"
    )
    (tmp_path / "mirror.json").write_text("{name: mirror}")
    answer = headrace("standalone", str(tmp_path / "worker.properties"), str(tmp_path / "mirror.json"))
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith(f"error: Connector file {tmp_path}/mirror.json is not valid JSON: ")
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize("variable", ["CONNECT_LOG4J_ROOT_LOGLEVEL", "HEADRACE_LOG_LEVEL"])
def test_a_log_level_that_is_none_is_one_sentence_and_status_1(variable: str):
    answer = headrace("worker", "--from-env", environ={variable: "LOUD"})
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("error: 'LOUD' (") and answer.stderr.count("\n") == 1


def test_the_level_trace_of_an_image_is_taken():
    answer = headrace("worker", "--from-env", environ={"CONNECT_LOG4J_ROOT_LOGLEVEL": "TRACE"})
    assert answer.stderr.splitlines()[-1] == 'error: Missing required configuration "key.converter" which has no default value.'


def test_options_without_effect_are_logged_also_those_of_converters(tmp_path: Path):
    converter = "org.apache.kafka.connect.json.JsonConverter"
    (tmp_path / "worker.properties").write_text(
        f"bootstrap.servers=localhost:9\ndefault.api.timeout.ms=1000\noffset.storage.file.filename={tmp_path}/offsets\n"
        f"key.converter={converter}\nvalue.converter={converter}\noffset.flush.timeout.ms=1\nvalue.converter.schemas.cache.size=5\n"
    )
    answer = headrace("standalone", str(tmp_path / "worker.properties"))
    ignored = [line for line in answer.stderr.splitlines() if "worker.option.ignored" in line]
    assert len(ignored) == 2, answer.stderr
    assert "offset.flush.timeout.ms" in ignored[0] and "value.converter.schemas.cache.size" in ignored[1]
