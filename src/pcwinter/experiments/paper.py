"""Numbers from the paper, for comparison in the tables."""

# players, and retrainings of a truncated order (table "Retraining Number Comparison Per Permutation")
RETRAININGS = {
    "cora": (2241, 756),
    "citeseer": (1388, 535),
    "pubmed": (3683, 887),
    "amazon-photo": (147664, 6258),
    "amazon-computers": (317959, 12139),
    "coauthor-physics": (11178, 852),
}

# GPU hours an order, number of orders, GPU hours in total (tables "Permutation Time", "Total GPU Hour Comparison")
HOURS = {
    "cora": {"PC-Winter": (0.013, 325, 4.25), "Data Shapley": (0.024, 327, 8.00)},
    "citeseer": {"PC-Winter": (0.018, 291, 5.24), "Data Shapley": (0.037, 279, 10.32)},
    "pubmed": {"PC-Winter": (0.025, 316, 7.82), "Data Shapley": (0.285, 281, 80.13)},
    "amazon-photo": {"PC-Winter": (0.211, 418, 88.12), "Data Shapley": (1.105, 109, 120.39)},
    "amazon-computers": {"PC-Winter": (0.662, 181, 119.83), "Data Shapley": (3.566, 33, 117.68)},
    "coauthor-physics": {"PC-Winter": (0.119, 460, 54.75), "Data Shapley": (2.642, 45, 118.87)},
}

# methods that the limit of 120 GPU hours ended before they converged
LIMITED = {
    ("amazon-photo", "Data Shapley"),
    ("amazon-computers", "PC-Winter"),
    ("amazon-computers", "Data Shapley"),
    ("coauthor-physics", "Data Shapley"),
}

# accuracy with 10 % of the edges, and the share that matches the whole graph (section "Adding High-Value Edges")
EDGES = {"cora": (0.729, 0.08)}
