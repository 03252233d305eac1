"""What each operation of a topology does with a batch; one module per family."""
