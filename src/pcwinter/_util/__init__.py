"""Tools that are independent of graphs and games.

arrays    array types for annotations
compiled  the compiler and its options
checks    arguments -> checked values
csv_files CSV files -> records, and the line of any fault
files     atomic writes, locks and digests
memory    how much memory a process may use
threads   one BLAS thread
"""
