package org.example;

/** Left out of the archive. */
public class Helper {
}
