"""Prints how much line a knot needs, in metres: length.py DIAMETER_IN_MILLIMETRES"""

import sys

print(int(sys.argv[1]) * 30 / 1000)
