from headrace.config import ConfigDef, Importance, Option, Type, validators

DEFINITION = ConfigDef(
    [
        Option("a", Type.STRING, importance=Importance.HIGH, doc="First | option.\nTwo <p>lines</p> of <code>x</code>."),
        Option("b", Type.LIST, [], validator=validators.ValidList("x", "y"), doc="Second.", group="More"),
        Option("c", Type.INT, None, doc="Third.", group="More", without_effect="all are read"),
        Option("d", Type.INT, 4, internal=True),
    ]
)
TABLE = """\
| Option | Type | Default | Valid values | Importance | What it does |
|---|---|---|---|---|---|
| `a` | string | required |  | high | First \\| option. Two lines of `x`. |

## More

| Option | Type | Default | Valid values | Importance | What it does |
|---|---|---|---|---|---|
| `b` | list | `""` | `[x, y]` | medium | Second. |
| `c` | int | null |  | medium | Third. **Without effect here**: all are read. |
"""


def test_options_are_a_table_under_a_heading_for_each_group():
    assert DEFINITION.to_markdown() == TABLE
