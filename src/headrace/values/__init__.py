"""Connect data as SQL expressions: a record's key, value and headers while a chain of transforms is compiled.

A value is a list of typed alternatives, each with the condition under which it holds (docs/decisions/0007). Expressions are SQL
text rather than Columns: creating a Column takes a millisecond, and a chain has a few hundred expressions.
"""
