"""Files, and objects of other libraries -> Graph.

read        read_graph: chooses the reader by the file name
csv_folder  a folder with nodes.csv and edges.csv
npz         an .npz file in the gnn-benchmark layout
networkx    NetworkX graphs, GraphML and GML files
pyg         Data objects of PyTorch Geometric
datasets    the public graphs, by name
download    the public files: found on disk or downloaded once
assemble    the last step of every reader: names become numbers, and the numbers become a Graph
"""
