"""Values <-> a directory that survives interruptions.

directory    a run on disk: run.json, nodes.csv, edges.csv, players.npz
checkpoints  the state of an unfinished run
read         what a run wrote, read back and checked
"""
