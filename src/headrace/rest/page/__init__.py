"""The operator's page under `/ui`: HTML made by the server, parts of it renewed by htmx; no state, so that any worker answers.

What the page shows, the REST API gives as well; what it changes, it asks of the REST API in this process, as the same user, so
that roles, forwarding to other workers and the audit are the same.
"""

from headrace.rest.page.mount import mount

__all__ = ["mount"]
