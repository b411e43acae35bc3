"""`python -m seenbefore` is the command `seenbefore`."""

from seenbefore.cli import main

main()
