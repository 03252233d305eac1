"""Names of the JVM are looked up once: packages, classes and static methods.

Py4J asks the JVM at each mention: two of the three requests of a function of a column, and one for each part of the name of a
class. For a package the JVM looks into every jar, as it might be a class.
"""

from __future__ import annotations

from typing import Any


def remember_java_names(jvm: Any) -> None:
    """Have a session's JVM view (`SparkContext._jvm`), and what is found by it, keep what was found.

    Static fields are read each time, and so is a name like a class's that is none yet: a jar may come with it.
    """
    from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView

    if type(jvm) is not JVMView:  # an earlier session of this JVM has done it
        return

    def remembering(kind: type) -> type:
        def find(self: Any, name: str) -> Any:
            value = kind.__getattr__(self, name)  # pyright: ignore
            if type(value) in kinds:
                value.__class__ = kinds[type(value)]
            elif not isinstance(value, JavaMember):
                return value
            if not (isinstance(value, JavaPackage) and name[:1].isupper()):
                self.__dict__[name] = value  # found without this function from now on
            return value

        return type(kind.__name__, (kind,), {"__getattr__": find})

    kinds = {kind: remembering(kind) for kind in (JavaPackage, JavaClass)}
    jvm.__class__ = remembering(JVMView)
