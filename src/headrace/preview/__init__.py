"""What a connector's chain makes of given or live records, without deploying anything: a dry run."""
