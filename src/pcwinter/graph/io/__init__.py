"""Files and objects of other libraries -> Graph.

read        read_graph: picks the reader by the file's name
csv_folder  a folder with nodes.csv and edges.csv
npz         an .npz file in the gnn-benchmark layout
networkx    NetworkX graphs, GraphML and GML files
pyg         Data objects of PyTorch Geometric
datasets    the public graphs, by name
download    the public files: found on disk or downloaded once
assemble    what every reader ends with: names become numbers, and the numbers a Graph
"""
