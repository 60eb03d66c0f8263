"""``python -m phibatch`` is the program."""

from ._program import main

main()
