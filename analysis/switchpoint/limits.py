"""The largest input that is read, each limit with its reason: time and memory stay bounded.

Every reader checks these before it parses. `bench/largest_inputs.py` measures what the largest
files cost; the table of docs/reference/limits.md is made from here.
"""

from __future__ import annotations

#: Unpacked bytes and lines of another tool's output. Tables of benchmarks have kilobytes, but jobs
#: print other things too. Lines and values of 32 MiB need about half a gigabyte in Python.
TEXT_BYTES = 2**25
TEXT_LINES = 500_000

#: Unpacked bytes and rows of a run record. Ten million rows are a gigabyte in the analysis.
#: A kernel keeps 1,000 samples of each point, so that is a sweep over 10,000 points.
RECORD_BYTES = 2**30
RECORD_ROWS = 10_000_000

#: Unpacked bytes and rows of tidy CSV, which is parsed by columns.
TABLE_BYTES = 2**27
TABLE_ROWS = 5_000_000

#: Bytes of a bundle and of each of its parts, and cells of its tables: one of 10,000 curves has
#: about 20 MB.
BUNDLE_BYTES = 2**27
BUNDLE_CELLS = 20_000_000

#: Decoded bytes of a table of unknown origin: the headers of about 10,000 runs. A file of some
#: kilobytes can contain any number of them.
PARQUET_BYTES = 2**29

#: Values in one log or report of ReFrame: a test of ten values that runs each hour for a year.
LOG_VALUES = 100_000

#: Characters of a line in which a table's row or heading is searched. Printed rows have about a
#: hundred; patterns need quadratic time on some longer lines.
ROW_CHARACTERS = 4096

#: Characters of the heading of a tidy CSV file, and its columns.
HEADING_CHARACTERS = 2**16
COLUMNS = 256

#: Bytes of one JSON text, and how deep its objects and lists are nested. A header has about 2,000
#: bytes for each rank and 60,000 for the settings of the MPI library and of what lies below it;
#: the deepest part has ten levels. The values of 16 MiB need up to half a gigabyte in Python.
JSON_BYTES = 2**24
JSON_LEVELS = 64

#: Digits of a whole number in JSON: the largest counters have 64 bits.
JSON_DIGITS = 20

#: Bytes of a YAML file: a model of a site, a policy, placements. A model has some kilobytes for
#: each placement.
YAML_BYTES = 2**22

#: Values in a YAML file, where an alias counts as what it stands for, and how deep they are nested.
#: The parser in C ends the whole program if values are nested too deep.
YAML_VALUES = 200_000
YAML_LEVELS = 64

#: Bytes of a file that says which algorithm a library chooses, as `model recommend` writes it.
RULES_BYTES = 2**24

#: Bytes of a library of MPI, in which its own decisions are looked for.
LIBRARY_BYTES = 2**28

#: Labels of a run, and characters of a label, its name or any other name. Spack's specs and the
#: launcher's options have a few thousand.
LABELS = 256
NAME_CHARACTERS = 2**14

#: Characters of a folder's name with the site of single values in it, written as in a URL. File
#: systems have 255.
FOLDER_CHARACTERS = 200

#: Message sizes and repetitions are below this: no address space has more bytes, and sums of
#: several stay in 64 bits.
COUNT = 2**62

#: The shortest and the longest time in microseconds: a picosecond, and four months. Nothing that
#: was measured is outside, and squares and ratios of such times are finite.
SHORTEST_US = 1e-6
LONGEST_US = 1e13
