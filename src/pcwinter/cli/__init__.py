"""The command line.

main         the commands, and errors in one sentence
value        pcwinter value
look         pcwinter show, compare, report, datasets, completion
experiments  pcwinter reproduce, judge
tables       runs -> tables in the terminal
choices      the words that options accept
"""
