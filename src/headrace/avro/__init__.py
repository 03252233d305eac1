"""Avro: conversion of schemas to Connect's and back, and plans for its bytes (`AvroRead.java`, `AvroPut.java`)."""
