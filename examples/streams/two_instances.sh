#!/bin/sh
# Two instances of one application whose internal topics somebody has to create (internal.topics.setup=manual). Each step waits for
# Enter. Usage: two_instances.sh APP [--set KEY=VALUE …]; HEADRACE is the command, if it is not `headrace`.
set -u
headrace=${HEADRACE:-headrace}

run() {
    exec $headrace streams run "$@" --set internal.topics.setup=manual
}

echo "Both instances refuse to start: nobody has created the internal topics."
(run "$@")
(run "$@")

echo "Enter: create them."
read -r _
$headrace streams init "$@" || exit

echo "Enter: the first instance works."
read -r _
run "$@" &
first=$!

echo "Enter: the second one stands by."
read -r _
run "$@" &
second=$!

echo "Enter: the first one is killed, and the second takes over."
read -r _
kill -9 $first

echo "Enter: the end."
read -r _
kill -TERM $second
wait $second
