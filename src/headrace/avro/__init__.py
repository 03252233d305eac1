"""Avro: its schemas as Connect's and back, and what a reader and a writer of its bytes have to do (`AvroPlan.java`)."""
