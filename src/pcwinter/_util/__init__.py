"""Tools that know nothing of graphs or games.

arrays    array types for annotations
compiled  the compiler and its options
checks    options -> checked numbers
csv_files CSV files -> records, with the line of whatever is wrong
files     atomic writes, locks and digests
memory    how much memory a process may use
threads   one BLAS thread
"""
