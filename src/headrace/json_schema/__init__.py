"""JSON Schema: conversion of schemas to Connect's and back, and plans for reading and writing data (`JsonSchemaReader.java`)."""
