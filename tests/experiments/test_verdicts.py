"""Verdicts that follow from the tables."""

import re
from pathlib import Path

import pytest

from pcwinter.experiments.verdicts import Tables, compare, verdicts


def lines_with(text: str, *parts: str) -> list[str]:
    """The lines of the findings that contain all the parts."""
    return [line for line in text.splitlines() if line.startswith("- ") and all(part in line for part in parts)]


def facts(line: str) -> list[str]:
    """The verdicts in a line and the numbers that decide them, such as "yes (-0.0400)"."""
    return re.findall(r"\b(?:yes|no|unclear)(?: \([+-][\d.]+\))?", line)


def numbers(line: str) -> list[float]:
    """The other numbers of a line."""
    return [float(number) for number in re.findall(r"(?<![\w.(+-])\d+(?:\.\d+)?(?!-)", line)]


@pytest.mark.parametrize(
    ("mine", "other", "lower", "said"),
    [
        (0.50, 0.60, True, "yes (-0.1000)"),
        (0.50, 0.60, False, "no (-0.1000)"),
        (0.60, 0.50, False, "yes (+0.1000)"),
        (0.60, 0.599, True, "unclear (+0.0010)"),
        (0.60, 0.614, True, "yes (-0.0140)"),  # 2.228 standard errors are 0.0129
        (0.60, 0.612, True, "unclear (-0.0120)"),
        (0.60, 0.60, True, "unclear (+0.0000)"),
    ],
)
def test_a_difference_counts_if_it_is_hardly_chance(mine: float, other: float, lower: bool, said: str) -> None:
    rows = [{"mean": mean, "mean sd": 0.01, "seeds": 6} for mean in (mine, other)]
    assert compare(rows[0], rows[1], lower=lower) == said


def test_a_large_spread_beside_a_small_one_has_few_degrees_of_freedom() -> None:
    rows = [{"mean": mean, "mean sd": sd, "seeds": 3} for mean, sd in ((0.64, 0.001), (0.6805, 0.02))]
    assert compare(rows[0], rows[1]) == "unclear (-0.0405)"  # 3.5 standard errors, where 4.3 would be needed
    rows[1]["mean"] = 0.69
    assert compare(rows[0], rows[1]) == "yes (-0.0500)"


def test_as_good_is_less_than_better() -> None:
    rows = [{"mean": mean, "mean sd": 0.01, "seeds": 6} for mean in (0.60, 0.601, 0.60, 0.62)]
    said = [compare(rows[0], row, as_good=True) for row in rows] + [compare(row, rows[0], as_good=True) for row in rows]
    assert [word.split()[0] for word in said] == ["yes"] * 4 + ["yes", "unclear", "yes", "no"]


def test_what_never_varies_can_be_told_apart() -> None:
    rows = [{"mean": mean, "mean sd": sd, "seeds": 3} for mean, sd in ((0.64, 0.001), (0.70, 0.0))]
    assert compare(rows[0], rows[1]) == "yes (-0.0600)"
    rows[0]["mean sd"] = 0.0
    assert compare(rows[0], rows[1]) == "yes (-0.0600)"


def test_one_seed_decides_nothing() -> None:
    rows = [{"mean": mean, "mean sd": None, "seeds": 1} for mean in (0.1, 0.9)]
    assert compare(rows[0], rows[1]) == "unclear (-0.8000)"


def test_words_follow_from_the_tables(tmp_path: Path) -> None:
    folder = tmp_path / "cora"
    folder.mkdir()
    (folder / "cora-drop-nodes-unlabelled-softmax.table.csv").write_text(
        "method,seeds,mean,mean sd,rebound,rebound sd\n"
        "PC-Winter (own),3,0.64,0.001,0.04,0\nPC-Winter (path),3,0.70,0.001,0.03,0\nData Shapley,3,0.64,0.01,0.05,0\n"
        "degree,3,0.68,0.001,0,0\nrandom,3,0.69,0.001,0.04,0.01\n"
    )
    text = verdicts([Tables(folder, "cora", "softmax")])
    own, path, *rises = lines_with(text, "cora", "softmax")
    assert (facts(own), facts(path)) == (["yes (-0.0400)"], ["no (+0.0200)"])
    assert [numbers(line) for line in (own, path)] == [[0.64, 0.68, 0.69], [0.7, 0.68, 0.69]]
    assert (facts(rises[0]), numbers(rises[0])) == (["unclear (+0.0000)"], [0.04])
    assert "constraints" not in text  # which was not run
    table = folder / "cora-drop-nodes-unlabelled-softmax.table.csv"
    table.write_text(table.read_text() + "influence,3,0.66,0.001,0,0\n")
    same_own, same_path, influence, *_ = lines_with(verdicts([Tables(folder, "cora", "softmax")]), "cora", "softmax")
    assert (same_own, same_path) == (own, path)  # the claim of the paper is about other methods
    assert (facts(influence), numbers(influence)) == (["yes (-0.0200)", "no (+0.0400)"], [0.66])
    assert not verdicts([Tables(folder, "cora")])
    assert "Data Shapley" not in verdicts([Tables(folder, "cora", "softmax")], "add-edges")
    (folder / "cora-efficiency.table.csv").write_text(
        "method,orders,seconds an order,seconds in total\nPC-Winter,9,1,9\nData Shapley,8,2.5,20\n"
        '"PC-Winter, softmax",9,4,36\n"Data Shapley, softmax",8,2,16\n'
    )
    text = verdicts([Tables(folder, "cora")], "efficiency")
    ridge, softmax = lines_with(text, "cora")
    assert (facts(ridge), numbers(ridge)[:3]) == (["yes"], [2.5, 9, 9])
    assert (facts(softmax), numbers(softmax)) == (["no"], [0.5])
    (folder / "cora-efficiency-softmax.table.csv").write_text(
        "method,orders,seconds an order,seconds in total\nPC-Winter,9,1,9\nData Shapley,8,1.5,12\n"
    )  # measured, so what was extrapolated is not told
    text = verdicts([Tables(folder, "cora", head) for head in ("", "softmax")], "efficiency")
    assert [(facts(line), numbers(line)[0]) for line in lines_with(text)] == [(["yes"], 2.5), (["yes"], 1.5)]
    (folder / "cora-add-edges.table.csv").write_text(
        "method,seeds,first 20 %,first 20 % sd,at 10 %,at 10 % sd,share that reaches all,whole graph\n"
        "PC-Winter (own),3,0.71,0.001,0.72,0.001,0.05,0.713\nPC-Winter (path),3,0.7,0.001,0.7128,0.01,0.06,0.713\n"
        "PC-Winter (by class),3,0.7,0.001,0.714,0.001,0.06,0.713\n"
        "PC-Winter (chosen on validation),3,0.69,0.01,0.7,0.001,1,0.713\nrandom,3,0.68,0.01,0.68,0.01,0.9,0.713\n"
    )
    text = verdicts([Tables(folder, "cora")], "add-edges")
    own, path, by_class, chosen = lines_with(text)
    assert facts(own) == ["yes (+0.0070)", "yes (+0.0300)"]
    assert {0.72, 0.729, 0.713, 5.0, 8.0} <= set(numbers(own))  # the paper has 0.729 and 8 %
    assert (facts(path)[0], facts(by_class)[0], facts(chosen)[0]) == (
        "unclear (-0.0002)",
        "yes (+0.0010)",
        "no (-0.0130)",
    )
    assert [numbers(line)[0] for line in (path, by_class, chosen)] == [0.7128, 0.714, 0.7]
    assert "0.729" not in path
    (folder / "cora-fresh-splits.table.csv").write_text(
        "method,seeds,at 10 %,whole graph,10 % over all,10 % over all sd,choice ahead by,choice ahead by sd\n"
        "PC-Winter (own),5,0.71,0.713,-0.003,0.001,0.01,0.02\n"
        "PC-Winter (chosen on validation),5,0.712,0.713,-0.001,0.01,,\n"
        "random,5,0.7,0.713,-0.013,0.01,0.02,0.01\nbetweenness,5,0.7,0.713,-0.013,0.01,0.02,0.03\n"
        "leave-one-out,5,0.72,0.713,0.007,0.01,-0.02,0.01\n"
    )
    text = verdicts([Tables(folder, "cora")], "fresh-splits")
    (line,) = lines_with(text)
    others = ["unclear (+0.0100)", "yes (+0.0200)", "unclear (+0.0200)", "no (-0.0200)"]
    assert facts(line) == ["unclear (-0.0010)", *others]
    assert {5, 0.712, 0.713} <= set(numbers(line))
    assert re.findall(r"(own|random|betweenness|leave-one-out)\)? \w+ \(", line) == [
        "own",
        "random",
        "betweenness",
        "leave-one-out",
    ]
    table = folder / "cora-fresh-splits.table.csv"
    table.write_text(table.read_text().replace(",5,", ",2,"))
    (line,) = lines_with(verdicts([Tables(folder, "cora")], "fresh-splits"))
    assert facts(line) == ["unclear"]
    (folder / "cora-truncation.table.csv").write_text(
        'method,seeds,mean,mean sd\n"0.5-0.7, own",3,0.6,0.001\n"0.5-0.7, path",3,0.6,0.001\n'
        '"0.9-0.7, own",3,0.601,0.001\n"0.9-0.7, path",3,0.7,0.001\n'
        '"none, own",3,0.6005,0.001\n"none, path",3,0.5,0.001\n'
    )
    text = verdicts([Tables(folder, "cora")], "truncation")
    own, path = lines_with(text)
    assert "0.5-0.7 yes (-0.0005), 0.9-0.7 unclear (+0.0005)" in own
    assert "0.5-0.7 no (+0.1000), 0.9-0.7 no (+0.2000)" in path
    assert ("0.6005" in own, "0.5000" in path) == (True, True)
    lines = (folder / "cora-truncation.table.csv").read_text().splitlines(keepends=True)
    (folder / "cora-truncation.table.csv").write_text("".join(line for line in lines if "none" not in line))
    text = verdicts([Tables(folder, "cora")], "truncation")
    assert facts(lines_with(text)[1]) == ["no (+0.1000)"]
    (folder / "cora-permutations.table.csv").write_text(
        'method,seeds,mean,mean sd\n"10 orders, own",3,0.7,0.001\n"10 orders, path",3,0.6,0.001\n'
        '"converged, own",3,0.6,0.001\n"converged, path",3,0.7,0.001\nData Shapley,3,0.65,0.001\n'
    )
    text = verdicts([Tables(folder, "cora")], "permutations")
    found = {(0.6, 10): ["yes (-0.1000)"], (0.7, 10): ["no (+0.1000)"]}
    assert {tuple(numbers(line)): facts(line) for line in lines_with(text)[:2]} == found
    own, path = lines_with(text, "Data Shapley", "0.6500")
    assert "10 orders no (+0.0500), converged yes (-0.0500)" in own
    assert "10 orders yes (-0.0500), converged no (+0.0500)" in path
    (folder / "cora-drop-nodes-mixed.table.csv").write_text(
        "method,seeds,mean,mean sd,labelled among the first,labelled among the first sd,labelled in all\n"
        "PC-Winter (own),3,0.3,0.001,0.6,0.01,0.2\nPC-Winter (path),3,0.4,0.001,0.21,0.01,0.2\n"
        "Data Shapley,3,0.3,0.001,0.1,0.01,0.2\nrandom,3,0.5,0.01,0.2,0.01,0.2\n"
    )
    text = verdicts([Tables(folder, "cora")], "drop-nodes mixed")
    own, path, _, both = lines_with(text)
    assert (facts(own), numbers(own)) == (["yes (+0.1000)", "yes (+0.4000)"], [60, 20])
    assert (facts(path), numbers(path)) == (["no (-0.2900)", "unclear (+0.0100)"], [21, 20])
    assert (facts(both), numbers(both)) == (["yes (+0.0000)", "no (+0.1000)"], [0.3])
    (folder / "cora-drop-nodes-labelled.table.csv").write_text(
        "method,seeds,mean,mean sd\n"
        "PC-Winter (own),3,0.2,0.001\nPC-Winter (path),3,0.4,0.001\nData Shapley,3,0.3,0.001\n"
    )
    text = verdicts([Tables(folder, "cora")], "drop-nodes labelled")
    (line,) = lines_with(text)
    assert (facts(line), numbers(line)) == (["yes (-0.1000)", "no (+0.1000)"], [0.3])
    (folder / "cora-add-edges.table.csv").write_text("method,mean\nPC-Winter,0.6\n")
    with pytest.raises(ValueError, match=r"add-edges of cora .*'PC-Winter \(own\)'"):
        verdicts([Tables(folder, "cora")])
