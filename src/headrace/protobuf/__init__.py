"""Protobuf: its schemas as Connect's and back, and what reads and writes its bytes (`ProtobufMessage.java`)."""
