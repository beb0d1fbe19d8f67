"""Heads: classifiers that turn training rows into scores."""
