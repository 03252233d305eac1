"""How `headrace mirror failover` reads an mm2.properties file."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.cli.mirror.failover import failover
from headrace.errors import ConnectError


def test_placeholders_in_the_file_have_the_values_of_its_config_providers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRRORED", "true")
    file = tmp_path / "mm2.properties"
    file.write_text(
        "clusters=A,B\nA->B.enabled=${env:MIRRORED}\nconfig.providers=env\n"
        "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"
    )
    with pytest.raises(ConnectError, match="There is no flow X->Y; flows that are enabled: A->B"):
        failover(file, flow="X->Y")
