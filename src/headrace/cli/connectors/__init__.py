"""`headrace connectors …`: a thin client of the REST API, of headrace's workers and of Kafka Connect's own.

`options` are what the commands share, `client` talks to a worker, `files` reads configurations, `tables` and `texts` show. The
other modules are the commands, put together in `group`.
"""
