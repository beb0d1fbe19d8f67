"""Files: downloads from a server on this machine, the cache, damaged files, and pickles that want to run."""

import functools
import hashlib
import os
import pickle
import socket
import threading
from collections import defaultdict
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from pcwinter.graph.io import download
from pcwinter.graph.io.datasets import load, location
from pcwinter.graph.io.download import find, on_disk, read_npz, read_pickle

FILE = "planetoid/ind.tiny.y"
CONTENT = b"some bytes"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves a folder, and remembers what was asked for."""

    asked: list[str]


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        assert isinstance(self.server, Server)
        if "%s" in format and args and " /" in str(args[0]):
            self.server.asked.append(str(args[0]).split()[1])


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty folders of our own: no test here may see the user's data or cache, or a public address."""
    monkeypatch.delenv("PCWINTER_DATA", raising=False)
    monkeypatch.setenv("PCWINTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PCWINTER_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A mirror in the folder `mirror`, with FILE in it."""
    root = tmp_path / "mirror"
    put(root / FILE, CONTENT)
    with Server(("127.0.0.1", 0), functools.partial(Handler, directory=str(root))) as httpd:
        httpd.asked = []
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        monkeypatch.setenv("PCWINTER_MIRROR", f"http://127.0.0.1:{httpd.server_port}/")
        yield httpd
        httpd.shutdown()
        thread.join()


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# ---- download and cache


def test_a_file_is_downloaded_once(server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert on_disk(FILE) is None
    for _ in range(2):
        path = find(FILE, SHA256)
        assert path == on_disk(FILE) == tmp_path / "cache" / FILE
        assert path.read_bytes() == CONTENT
    assert server.asked == [f"/{FILE}"]
    assert capfd.readouterr() == ("", "")  # the library is silent


def test_a_file_without_a_known_hash_is_downloaded_once(server: Server) -> None:
    assert find(FILE, None) == find(FILE, None)
    assert server.asked == [f"/{FILE}"]


def test_a_damaged_file_in_the_cache_is_replaced(server: Server, tmp_path: Path) -> None:
    put(tmp_path / "cache" / FILE, CONTENT[:4])
    assert find(FILE, SHA256).read_bytes() == CONTENT
    assert server.asked == [f"/{FILE}"]


@pytest.mark.usefixtures("server")
def test_wrong_contents_are_refused_and_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError, match=r"http://127\S+ .*\(wrong contents\)"):
        find(FILE, "0" * 64)
    assert files_below(tmp_path / "cache") == []


@pytest.mark.usefixtures("server")
def test_a_missing_file_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError, match=r"ind\.other\.y to \S+ \(HTTPError\)"):
        find("planetoid/ind.other.y", None)
    assert files_below(tmp_path / "cache") == []


def test_no_connection_is_one_sentence_that_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = free.getsockname()[1]
    monkeypatch.setenv("PCWINTER_MIRROR", f"http://127.0.0.1:{closed}")
    with pytest.raises(ConnectionError, match=r"planetoid/ind\.pubmed\.y in a folder") as caught:
        load("pubmed")
    sentence = str(caught.value)
    assert f"could not download http://127.0.0.1:{closed}/planetoid/ind.pubmed.y to " in sentence
    assert "set PCWINTER_DATA to that folder" in sentence
    assert "\n" not in sentence
    assert files_below(tmp_path / "cache") == []


def test_a_transfer_that_breaks_off_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Handler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(CONTENT)

    with Server(("127.0.0.1", 0), Broken) as httpd:
        httpd.asked = []
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        monkeypatch.setenv("PCWINTER_MIRROR", f"http://127.0.0.1:{httpd.server_port}")
        with pytest.raises(ConnectionError, match="could not download"):
            find(FILE, None)
        httpd.shutdown()
        thread.join()
    assert files_below(tmp_path / "cache") == []


def test_the_public_addresses_are_used_without_a_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PCWINTER_MIRROR")
    monkeypatch.setitem(download.SOURCES, "planetoid", "http://127.0.0.1:9/public")
    with pytest.raises(ConnectionError, match=r"http://127\.0\.0\.1:9/public/ind\.tiny\.y"):
        find(FILE, None)
    assert download.SOURCES["gnn-benchmark"].startswith("https://github.com/shchur/gnn-benchmark/")


# ---- the data folder


@pytest.mark.parametrize("through", ["argument", "environment"])
def test_the_data_folder_comes_before_the_cache(through: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "mine" / FILE, CONTENT)
    put(tmp_path / "cache" / FILE, b"other bytes")
    folder = tmp_path / "mine"
    if through == "environment":
        monkeypatch.setenv("PCWINTER_DATA", str(folder))
    assert find(FILE, SHA256, folder if through == "argument" else None) == folder / FILE


def test_a_file_that_the_data_folder_lacks_is_downloaded(server: Server, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert find(FILE, SHA256, tmp_path / "mine") == tmp_path / "cache" / FILE
    assert server.asked == [f"/{FILE}"]


def test_a_damaged_file_in_the_data_folder_is_named_and_left_alone(tmp_path: Path) -> None:
    put(tmp_path / FILE, CONTENT[:4])
    with pytest.raises(ValueError, match=r"ind\.tiny\.y is damaged.*sha256"):
        find(FILE, SHA256, tmp_path)
    assert (tmp_path / FILE).read_bytes() == CONTENT[:4]


@pytest.mark.parametrize("name", ["cora", "amazon-photo"])
def test_a_data_folder_that_does_not_exist(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match=r"missing does not exist.* PCWINTER_DATA"):
        load(name, data=tmp_path / "missing")


# ---- reading


class Malicious:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (f"touch '{self.path}'",)


def test_a_malicious_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    put(tmp_path / "x", pickle.dumps(Malicious(trace), protocol=2))
    with pytest.raises(ValueError, match=rf"x is damaged .* asks for {os.system.__module__}\.system"):
        read_pickle(tmp_path / "x")
    assert not trace.exists()
    pickle.loads((tmp_path / "x").read_bytes())  # the same bytes do run where nothing refuses them
    assert trace.exists()


@pytest.mark.parametrize("name", ["eval", "exec", "getattr", "__import__"])
def test_builtins_are_refused(name: str, tmp_path: Path) -> None:
    put(tmp_path / "x", b"c__builtin__\n" + name.encode() + b"\n.")
    with pytest.raises(ValueError, match=rf"__builtin__\.{name}"):
        read_pickle(tmp_path / "x")


def test_pickles_of_today_are_read_too(tmp_path: Path) -> None:
    dense = np.eye(3, dtype=np.float32)
    content = {"array": dense, "csr": sp.csr_matrix(dense), "graph": defaultdict(list, {0: [1, 2]})}
    for key, value in content.items():
        put(tmp_path / key, pickle.dumps(value, protocol=4))
    np.testing.assert_array_equal(read_pickle(tmp_path / "array"), dense)
    np.testing.assert_array_equal(read_pickle(tmp_path / "csr").csr().toarray(), dense)
    assert read_pickle(tmp_path / "graph") == {0: [1, 2]}


@pytest.mark.parametrize("length", [0, 1, 40, -1])
def test_a_truncated_pickle_is_named(length: int, tmp_path: Path) -> None:
    put(tmp_path / "ind.tiny.y", pickle.dumps(np.eye(3), protocol=4)[:length])
    with pytest.raises(ValueError, match=r"ind\.tiny\.y is damaged"):
        read_pickle(tmp_path / "ind.tiny.y")


@pytest.mark.parametrize("length", [0, 3, 100, -30])
def test_a_truncated_npz_is_named(length: int, tmp_path: Path) -> None:
    np.savez(tmp_path / "whole.npz", a=np.arange(1000))
    put(tmp_path / "part.npz", (tmp_path / "whole.npz").read_bytes()[:length])
    assert read_npz(tmp_path / "whole.npz", "a")["a"].size == 1000
    with pytest.raises(ValueError, match=r"part\.npz is damaged .*replace"):
        read_npz(tmp_path / "part.npz", "a")


def test_an_npz_without_an_array_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with pytest.raises(ValueError, match=r"other\.npz is damaged .*b is not a file in the archive"):
        read_npz(tmp_path / "other.npz", "b")


def test_an_npz_that_holds_a_pickle_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "objects.npz", a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"objects\.npz is damaged .*allow_pickle=False"):
        read_npz(tmp_path / "objects.npz", "a")


# ---- a Planetoid graph written here


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """`pubmed` in small: 503 rows, the first 3 labelled, and test rows for 506, 503 and 505, none for 504."""
    train, d = 503, 4
    allx, tx = np.zeros((train, d)), np.diag([1.0, 2.0, 3.0, 4.0])[:3]
    allx[:, 3] = 1 + np.arange(train)
    ally, ty = np.eye(3)[np.arange(train) % 3], np.eye(3)[[2, 1, 0]]
    parts = {
        "y": ally[:3],
        "allx": sp.csr_matrix(allx),
        "ally": ally,
        "tx": sp.csr_matrix(tx),
        "ty": ty,
        "graph": defaultdict(list, {0: [1, 1, 0, 504], 1: [0], 504: [0], 505: [506]}),
    }
    for part, value in parts.items():
        put(tmp_path / "planetoid" / f"ind.pubmed.{part}", pickle.dumps(value, protocol=4))
    put(tmp_path / "planetoid" / "ind.pubmed.test.index", b"506\n503\n505\n")
    return tmp_path


def test_a_planetoid_graph_is_put_together(tiny: Path) -> None:
    graph = load("pubmed", data=tiny, features="none")
    assert (graph.n_nodes, graph.n_classes) == (507, 3)
    upper = np.transpose(sp.triu(graph.adjacency).nonzero())
    assert upper.tolist() == [[0, 1], [0, 504], [505, 506]]
    assert (graph.train.tolist(), graph.val.tolist()) == ([0, 1, 2], list(range(3, 503)))
    assert graph.test.tolist() == [503, 505, 506]
    assert graph.labels[500:].tolist() == [2, 0, 1, 1, -1, 0, 2]
    x = graph.features.toarray()
    np.testing.assert_array_equal(x[501:503, 3], [502, 503])
    np.testing.assert_array_equal(x[503:, :3], [[0, 2, 0], [0, 0, 0], [0, 0, 3], [1, 0, 0]])
    assert graph.training.nnz == 4  # node 504 is in no set, so it is an unlabelled training node


def test_location_needs_every_file(tiny: Path) -> None:
    assert location("pubmed", data=tiny) == tiny / "planetoid"
    (tiny / "planetoid" / "ind.pubmed.ty").unlink()
    assert location("pubmed", data=tiny) is None
    assert location("amazon-photo", data=tiny) is None


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("test.index", b"12\nabc\n"),
        ("graph", pickle.dumps([1, 2], protocol=4)),
        ("allx", pickle.dumps(np.eye(3), protocol=4)),
        ("ally", pickle.dumps(np.eye(3), protocol=4)),
        ("y", b"garbage"),
    ],
)
def test_a_planetoid_file_with_other_contents_is_named(part: str, content: bytes, tiny: Path) -> None:
    put(tiny / "planetoid" / f"ind.pubmed.{part}", content)
    named = "allx" if part == "ally" else part  # the rows are put together under the name of allx
    with pytest.raises(ValueError, match=rf"ind\.pubmed\.{named} is damaged"):
        load("pubmed", data=tiny)


def test_a_csr_with_wild_indices_is_refused(tiny: Path) -> None:
    wild = sp.csr_matrix(np.eye(503, 4))
    wild.indices[0] = 1000
    put(tiny / "planetoid" / "ind.pubmed.allx", pickle.dumps(wild, protocol=4))
    with pytest.raises(ValueError, match=r"ind\.pubmed\.allx is damaged"):
        load("pubmed", data=tiny)
