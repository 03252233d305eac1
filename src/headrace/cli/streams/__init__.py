"""`headrace streams`: the life of a streams application's topics.

One module per command; `application` finds what the user names.
"""
