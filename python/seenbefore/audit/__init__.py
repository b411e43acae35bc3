"""Looking back: why a row got its verdict."""
