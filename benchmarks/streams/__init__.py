"""Streams beside Kafka Streams and Quix Streams: counts, windowed counts, a stream-table join, and a restore."""
