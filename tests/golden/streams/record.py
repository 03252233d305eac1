"""Records what the real Kafka Streams makes of the topologies in tests/streams/programs: `python -m tests.golden.streams.record`.

Each program is a Python function that uses the DSL. Here its text is turned into Java, call by call (`group_by_key` →
`groupByKey`), compiled against kafka-streams and run; the results are the golden files, one JSON file per module of programs.
Needs a JDK (`javac`) and the jars of `headrace jars --peers`.
"""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from types import ModuleType

from headrace.jvm.jars import jars
from tests.streams import programs
from tests.streams.programs import generated, mixed, scripts
from tests.streams.programs.case import Case

HERE = Path(__file__).parent
SPECIAL = {"as_": "as", "with_": "with", "for_each": "foreach"}
SERDES = {"string": "String", "long": "Long", "integer": "Integer"}
RAW = {"stream": "KStream", "table": "KTable", "global_table": "GlobalKTable"}
DURATIONS = {"millis": "Millis", "seconds": "Seconds", "minutes": "Minutes", "hours": "Hours", "days": "Days"}


def camel(name: str) -> str:
    """`group_by_key` → `groupByKey`."""
    if name in SPECIAL:
        return SPECIAL[name]
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def java(node: ast.expr) -> str:
    """An expression of a program in Java."""
    match node:
        case ast.Constant(value=bool(value)):
            return str(value).lower()
        case ast.Constant(value=str(value)):
            return json.dumps(value)
        case ast.Constant(value=value):
            return str(value)
        case ast.Name(id=name):
            return name
        case ast.List(elts=items):
            return f"List.of({', '.join(map(java, items))})"
        case ast.Dict(keys=keys, values=values):
            return "Map.of(" + ", ".join(java(part) for pair in zip(keys, values, strict=True) for part in pair if part) + ")"
        case ast.Subscript(value=value, slice=key):
            return f"((KStream) {java(value)}.get({java(key)}))"
        case ast.Attribute(value=ast.Name(id="Serdes"), attr=name):
            return f"Serdes.{SERDES[name]}"
        case ast.Attribute(value=value, attr=name):
            return f"{java(value)}.{name if name[0].isupper() else camel(name)}"
        case ast.Call(func=function, args=arguments):
            return _call(function, [java(argument) for argument in arguments])
    raise ValueError(f"not translated: {ast.dump(node)}")


def _call(function: ast.expr, arguments: list[str]) -> str:
    given = ", ".join(arguments)
    match function:
        case ast.Name(id=name) if name in DURATIONS:
            return f"Duration.of{DURATIONS[name]}({given})"
        case ast.Attribute(value=ast.Name(id="re"), attr="compile"):
            return f"Pattern.compile({given})"
        case ast.Attribute(value=ast.Name(id="t"), attr="add_global_store" | "add_read_only_state_store"):
            rest = ", ".join(arguments[2:])
            return f"{java(function)}({arguments[0]}, {arguments[1]}, (Deserializer) null, (Deserializer) null, {rest})"
        case ast.Attribute(value=ast.Name(id="b"), attr=name) if name in RAW:
            return f"(({RAW[name]}) {java(function)}({given}))"  # without type parameters, which Python has not
    return f"{java(function)}({given})"


def method(case: Case) -> str:
    """A program as a method."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(case.build))).body[0]
    assert isinstance(definition, ast.FunctionDef)
    lines: list[str] = []
    known: set[str] = set()
    for statement in definition.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                lines.append(f"{'' if name in known else 'var '}{name} = {java(value)};")
                known.add(name)
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Expr(value=value):
                call = java(value)
                is_cast = call.startswith("((") and call.endswith("))")  # which is no statement of Java
                lines.append(f"Object unused{len(lines)} = {call};" if is_cast else f"{call};")
            case _:
                raise ValueError(f"{case.name}: not translated: {ast.dump(statement)}")
    body = "\n        ".join(lines)
    parameter = "Topology t" if case.plain else "StreamsBuilder b"
    return f"    static void {case.name}({parameter}) {{\n        {body}\n    }}\n"


def _put(case: Case) -> str:
    config = ", ".join(json.dumps(part) for pair in case.config.items() for part in pair)
    if case.input:
        rows = ", ".join(f"{{{', '.join(map(json.dumps, row[:3]))}, {row[3]}L}}" for row in case.input)
        return (
            f'        found.put("{case.name}", results((b, t) -> {case.name}(b), Map.of({config}), new Object[][] {{{rows}}}));\n'
        )
    partitions = ", ".join(f"{json.dumps(topic)}, {count}" for topic, count in case.partitions.items())
    plain = str(case.plain).lower()
    call = f"{case.name}({'t' if case.plain else 'b'})"
    return f'        found.put("{case.name}", run((b, t) -> {call}, {plain}, Map.of({config}), Map.of({partitions})));\n'


def record(cases: list[Case]) -> dict[str, dict]:
    """What Kafka Streams makes of each: `describe` and `topics`, or `error`; with input `results`, what each record gives."""
    methods = "\n".join(map(method, cases))
    main = "    static void all(Map<String, Object> found) {\n" + "".join(map(_put, cases)) + "    }\n"
    source = (HERE / "Streams.java.in").read_text().replace("    //PROGRAMS//\n", methods + main)
    classpath = ":".join(str(jar) for jar in jars("peers"))
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "Streams.java"
        file.write_text(source)
        subprocess.run(["javac", "-nowarn", "-cp", classpath, "-d", directory, str(file)], check=True)
        command = ["java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", f"{directory}:{classpath}"]
        out = Path(directory) / "found.json"
        subprocess.run([*command, "org.apache.kafka.streams.processor.internals.Streams", str(out)], check=True)
        return json.loads(out.read_text())


def write(module: ModuleType) -> Path:
    """Record the programs of a module into its golden file."""
    file = HERE / f"{module.__name__.rpartition('.')[2]}.json"
    file.write_text(json.dumps(record(programs.cases(module)), indent=1, sort_keys=True) + "\n")
    return file


if __name__ == "__main__":
    if len(sys.argv) < 2 or "generated" in sys.argv[1:]:
        found = {name: generated.shortened(one) for name, one in record(generated.cases()).items()}
        (HERE / "generated.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    if len(sys.argv) < 2 or "mixed" in sys.argv[1:]:
        (HERE / "mixed.json").write_text(json.dumps(record(mixed.cases()), indent=1, sort_keys=True) + "\n")
    if len(sys.argv) < 2 or "scripts" in sys.argv[1:]:
        (HERE / "scripts.json").write_text(json.dumps(record(scripts.cases()), indent=1, sort_keys=True) + "\n")
    for chosen in programs.MODULES:
        if len(sys.argv) < 2 or chosen.__name__.rpartition(".")[2] in sys.argv[1:]:
            print(write(chosen))
