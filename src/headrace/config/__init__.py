"""Configurations: options declared once, read, validated and documented from the declaration (Kafka's `ConfigDef`)."""

from headrace.config import validators
from headrace.config.config import Config
from headrace.config.definition import ConfigDef
from headrace.config.option import ConfigValue, Option, Recommender, option
from headrace.config.properties import load_properties, parse_properties
from headrace.config.types import (
    REQUIRED,
    Importance,
    Password,
    Type,
    Width,
    java_text,
    parse_list,
    parse_type,
    to_text,
)

__all__ = [
    "REQUIRED",
    "Config",
    "ConfigDef",
    "ConfigValue",
    "Importance",
    "Option",
    "Password",
    "Recommender",
    "Type",
    "Width",
    "java_text",
    "load_properties",
    "option",
    "parse_list",
    "parse_properties",
    "parse_type",
    "to_text",
    "validators",
]
