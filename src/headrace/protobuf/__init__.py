"""Protobuf: conversion of schemas to Connect's and back, and plans for reading and writing its bytes (`ProtobufMessage.java`)."""
