"""What we know: data, and the code that reads, merges and checks it. Never imports torch."""
