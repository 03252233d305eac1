"""Write the alerts of deploy/prometheus/rules.yml for Prometheus' operator: `python scripts/prometheus_rule.py [FILE]`."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

_DEPLOY = Path(__file__).parents[1] / "deploy"
_HEAD = """\
# Written by scripts/prometheus_rule.py.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: headrace
spec:
"""


def main(target: Path) -> None:
    """Write the file."""
    rules = (_DEPLOY / "prometheus" / "rules.yml").read_text(encoding="utf-8")
    target.write_text(_HEAD + textwrap.indent(rules, "  "), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else _DEPLOY / "kubernetes" / "monitoring" / "prometheusrule.yaml")
