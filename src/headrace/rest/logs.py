"""The loggers of this package, named like Kafka Connect's REST classes: names known from there mean the same here."""

from __future__ import annotations

import logging

_PREFIX = "org.apache.kafka.connect.runtime.rest."

SERVER = logging.getLogger(_PREFIX + "RestServer")
APP = logging.getLogger(_PREFIX + "ConnectRestConfigurable")
CLIENT = logging.getLogger(_PREFIX + "RestClient")
ERRORS = logging.getLogger(_PREFIX + "errors.ConnectExceptionMapper")
LOGGERS = logging.getLogger(_PREFIX + "resources.LoggingResource")
