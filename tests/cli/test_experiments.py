"""pcwinter reproduce and pcwinter judge, as a user calls them."""

from pathlib import Path

from command import call, refused


def test_the_commands(tmp_path: Path) -> None:
    done = call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "all", "--seeds", 1)
    assert done.returncode == 0, done.stderr
    assert "| players | 1,761 |" in done.stdout
    assert (tmp_path / "all" / "demo" / "demo-counts.md").is_file()
    refused(call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "x", "--seeds", 0), "seeds is 0")
    refused(call("reproduce", "everything", "--dataset", "demo"), "'everything' is not one of")
    refused(call("reproduce", "counts", "--dataset", "demo", "--which", "mixed"), "--which mixed")
    refused(
        call("reproduce", "counts", "--dataset", "demo", "--orders", 9),
        "--orders 9",
    )
    (tmp_path / "mine" / "demo").mkdir(parents=True)
    (tmp_path / "mine" / "demo" / "demo-counts.md").write_text("precious")
    refused(
        call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "mine"),
        "demo-counts.md",
    )
    assert (tmp_path / "mine" / "demo" / "demo-counts.md").read_text() == "precious"
    (tmp_path / "mine" / "demo" / "demo-counts.md").rename(tmp_path / "mine" / "demo" / ".study.json.tmp")
    assert call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "mine", "--seeds", 1).returncode == 0
    refused(call("reproduce", "counts"), "Missing option '--dataset'")
    refused(call("judge", tmp_path / "none.csv", "--dataset", "demo"), "none.csv")
    (tmp_path / "file").touch()
    refused(call("reproduce", "counts", "--dataset", "demo", "--out", tmp_path / "file"), "expected a directory")
    refused(call("reproduce", "counts", "--dataset", "demo", "--max-seconds", "nan"), "--max-seconds is nan")
    for option in (("--head", "softmax"), ("--max-seconds", 3), ("--on", "validation")):
        refused(call("reproduce", "counts", "--dataset", "demo", *option), "leave it out")
