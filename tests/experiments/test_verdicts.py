"""Verdicts that follow from the tables."""

from pathlib import Path

import pytest

from pcwinter.experiments.verdicts import Tables, compare, verdicts

quiet = pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model trained on everything")


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
    assert "- cora, softmax head: yes (-0.0400) for own, 0.6400; degree 0.6800, random 0.6900." in text
    assert "- cora, softmax head: no (+0.0200) for path, 0.7000; degree 0.6800, random 0.6900." in text
    assert "PC-Winter (own) rises by 0.0400, more than random: unclear (+0.0000)." in text
    assert "constraints" not in text  # which was not run
    assert not verdicts([Tables(folder, "cora", "ridge")])
    assert "Data Shapley" not in verdicts([Tables(folder, "cora", "softmax")], "add-edges")
    (folder / "cora-efficiency.table.csv").write_text(
        "method,orders,seconds an order,seconds in total\nPC-Winter,9,1,9\nData Shapley,8,2.5,20\n"
        '"PC-Winter, softmax",9,4,36\n"Data Shapley, softmax",8,2,16\n'
    )
    text = verdicts([Tables(folder, "cora", "ridge")], "efficiency")
    assert "- cora: yes, an order of Data Shapley takes 2.50 times as long (PC-Winter 9 orders, 9.0 s" in text
    assert "- cora: no, an order of Data Shapley takes 0.50 times as long with softmax models." in text
    (folder / "cora-efficiency-softmax.table.csv").write_text(
        "method,orders,seconds an order,seconds in total\nPC-Winter,9,1,9\nData Shapley,8,1.5,12\n"
    )  # measured, so what was extrapolated is not told
    text = verdicts([Tables(folder, "cora", head) for head in ("ridge", "softmax")], "efficiency")
    assert "with softmax models" not in text
    assert "- cora, softmax head: yes, an order of Data Shapley takes 1.50 times as long" in text
    (folder / "cora-add-edges.table.csv").write_text(
        "method,seeds,first 20 %,first 20 % sd,at 10 %,at 10 % sd,share that reaches all,whole graph\n"
        "PC-Winter (own),3,0.71,0.001,0.72,0.001,0.05,0.713\nPC-Winter (path),3,0.7,0.001,0.7128,0.01,0.06,0.713\n"
        "PC-Winter (by class),3,0.7,0.001,0.714,0.001,0.06,0.713\n"
        "PC-Winter (chosen on validation),3,0.69,0.01,0.7,0.001,1,0.713\nrandom,3,0.68,0.01,0.68,0.01,0.9,0.713\n"
    )
    text = verdicts([Tables(folder, "cora", "ridge")], "add-edges")
    assert (
        "yes (+0.0070) for own: 0.7200 with 10 % (paper 0.729) against 0.7130 with all, first reached with 5.0%" in text
    )
    assert " (paper 8%); over the first 20 % ahead of: random yes (+0.0300)." in text
    assert "unclear (-0.0002) for path: 0.7128 with 10 % against" in text
    assert "yes (+0.0010) for by class: 0.7140 with 10 % against" in text
    assert (
        "no (-0.0130) for chosen on validation: 0.7000 with 10 % against 0.7130 with all, not reached before;" in text
    )
    (folder / "cora-fresh-splits.table.csv").write_text(
        "method,seeds,at 10 %,whole graph,10 % over all,10 % over all sd,choice ahead by,choice ahead by sd\n"
        "PC-Winter (own),5,0.71,0.713,-0.003,0.001,0.01,0.02\n"
        "PC-Winter (chosen on validation),5,0.712,0.713,-0.001,0.01,,\n"
        "random,5,0.7,0.713,-0.013,0.01,0.02,0.01\nbetweenness,5,0.7,0.713,-0.013,0.01,0.02,0.03\n"
        "leave-one-out,5,0.72,0.713,0.007,0.01,-0.02,0.01\n"
    )
    text = verdicts([Tables(folder, "cora", "ridge")], "fresh-splits")
    assert (
        "- cora: unclear (-0.0010) for chosen on validation, 5 splits: 0.7120 with 10 % against 0.7130 with all; over "
        "the first 20 % ahead of: PC-Winter (own) unclear (+0.0100), random yes (+0.0200), betweenness unclear "
        "(+0.0200), leave-one-out no (-0.0200)."
    ) in text
    table = folder / "cora-fresh-splits.table.csv"
    table.write_text(table.read_text().replace(",5,", ",2,"))
    assert "- cora: unclear, fewer than 3 splits." in verdicts([Tables(folder, "cora", "ridge")], "fresh-splits")
    (folder / "cora-truncation.table.csv").write_text(
        'method,seeds,mean,mean sd\n"0.5-0.7, own",3,0.6,0.001\n"0.5-0.7, path",3,0.6,0.001\n'
        '"0.9-0.7, own",3,0.601,0.001\n"0.9-0.7, path",3,0.7,0.001\n'
        '"none, own",3,0.6005,0.001\n"none, path",3,0.5,0.001\n'
    )
    text = verdicts([Tables(folder, "cora", "ridge")], "truncation")
    assert "- cora: as good as none (own, 0.6005): 0.5-0.7 yes (-0.0005), 0.9-0.7 unclear (+0.0005)." in text
    assert "- cora: as good as none (path, 0.5000): 0.5-0.7 no (+0.1000), 0.9-0.7 no (+0.2000)." in text
    lines = (folder / "cora-truncation.table.csv").read_text().splitlines(keepends=True)
    (folder / "cora-truncation.table.csv").write_text("".join(line for line in lines if "none" not in line))
    text = verdicts([Tables(folder, "cora", "ridge")], "truncation")
    assert "- cora: as good as 0.5-0.7 (path, 0.6000): 0.9-0.7 no (+0.1000)." in text
    (folder / "cora-permutations.table.csv").write_text(
        'method,seeds,mean,mean sd\n"10 orders, own",3,0.7,0.001\n"10 orders, path",3,0.6,0.001\n'
        '"converged, own",3,0.6,0.001\n"converged, path",3,0.7,0.001\nData Shapley,3,0.65,0.001\n'
    )
    text = verdicts([Tables(folder, "cora", "ridge")], "permutations")
    assert "- cora: converged (own, 0.6000) is better than: 10 orders yes (-0.1000)." in text
    assert "- cora: converged (path, 0.7000) is better than: 10 orders no (+0.1000)." in text
    assert "- cora: as good as Data Shapley, 0.6500, by own: 10 orders no (+0.0500), converged yes (-0.0500)." in text
    assert "- cora: as good as Data Shapley, 0.6500, by path: 10 orders yes (-0.0500), converged no (+0.0500)." in text
    (folder / "cora-drop-nodes-mixed.table.csv").write_text(
        "method,seeds,mean,mean sd,labelled among the first,labelled among the first sd,labelled in all\n"
        "PC-Winter (own),3,0.3,0.001,0.6,0.01,0.2\nPC-Winter (path),3,0.4,0.001,0.21,0.01,0.2\n"
        "Data Shapley,3,0.3,0.001,0.1,0.01,0.2\nrandom,3,0.5,0.01,0.2,0.01,0.2\n"
    )
    text = verdicts([Tables(folder, "cora", "ridge")], "drop-nodes mixed")
    told = "60% of the first, most yes (+0.1000), more than the 20% in the data yes (+0.4000)."
    assert f"- cora: PC-Winter (own): {told}" in text
    assert "(path): 21% of the first, most no (-0.2900), more than the 20% in the data unclear (+0.0100)." in text
    assert "as good as Data Shapley, 0.3000: own yes (+0.0000), path no (+0.1000)." in text
    (folder / "cora-drop-nodes-labelled.table.csv").write_text(
        "method,seeds,mean,mean sd\n"
        "PC-Winter (own),3,0.2,0.001\nPC-Winter (path),3,0.4,0.001\nData Shapley,3,0.3,0.001\n"
    )
    text = verdicts([Tables(folder, "cora", "ridge")], "drop-nodes labelled")
    assert "by the mean along the curve as good as Data Shapley, 0.3000: own yes (-0.1000), path no (+0.1000)." in text
    (folder / "cora-add-edges.table.csv").write_text("method,mean\nPC-Winter,0.6\n")
    with pytest.raises(ValueError, match=r"add-edges of cora .*'PC-Winter \(own\)'"):
        verdicts([Tables(folder, "cora", "ridge")])
