"""The types defined by a schema and its imports, by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headrace.errors import DataError
from headrace.protobuf.mapping import SCALARS
from headrace.protobuf.model import Enum, Field, File, Message, all_types
from headrace.protobuf.parse import parse
from headrace.protobuf.serialized import as_text
from headrace.protobuf.well_known import FILES


class Types:
    """The types of one schema."""

    def __init__(self, text: str, references: Mapping[str, str]) -> None:
        """references: the texts of other schemas by the names of imports. Raises DataError for a missing import."""
        self.file = parse(as_text(text))
        self._types: dict[str, Message | Enum] = {}
        self._add(self.file, references, set())

    def _add(self, file: File, references: Mapping[str, str], imported: set[str]) -> None:
        for type_ in all_types(file.messages, file.enums):
            self._types.setdefault(type_.name, type_)
        for name in file.imports:
            if name in imported:
                continue
            imported.add(name)
            definition = f'syntax = "proto3"; {FILES[name]}' if name in FILES else None
            text = references.get(name, definition)
            if text is None:
                raise DataError(f"The Protobuf schema imports {name}, which is not among its references")
            self._add(parse(as_text(text)), references, imported)

    def message(self, indexes: Sequence[int]) -> Message:
        """The message with these indexes: in the file, then in each enclosing message. Raises DataError."""
        current, messages = None, self.file.messages
        for index in indexes:
            if not 0 <= index < len(messages):
                raise DataError(f"The Protobuf schema has no message with the indexes {[*indexes]}")
            current = messages[index]
            messages = current.messages
        if current is None:
            raise DataError("The Protobuf schema has no message")
        return current

    def indexes(self, name: str) -> list[int]:
        """The indexes of the message with a full name. Raises DataError."""

        def search(messages: Sequence[Message]) -> list[int] | None:
            for place, message in enumerate(messages):
                if message.name == name:
                    return [place]
                inner = search(message.messages)
                if inner is not None:
                    return [place, *inner]
            return None

        indexes = search(self.file.messages)
        if indexes is None:
            raise DataError(f"The Protobuf schema has no message {name}, which Connect's schema is")
        return indexes

    def of(self, field: Field, message: Message) -> Message | Enum | None:
        """The message or enum type of a field, None for a scalar. Raises DataError."""
        if field.type in SCALARS:
            return None
        if field.type.startswith("."):
            type_ = self._types.get(field.type[1:])
        else:
            scope, type_ = message.name, None
            while type_ is None:
                type_ = self._types.get(f"{scope}.{field.type}" if scope else field.type)
                if not scope:
                    break
                scope = scope.rpartition(".")[0]
        if type_ is None:
            raise DataError(f"The Protobuf schema names {field.type}, which it does not define")
        return type_
