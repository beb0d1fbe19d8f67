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

from pcwinter import _files
from pcwinter._files import find, on_disk, read_pickle
from pcwinter.datasets import load

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
    with pytest.raises(ConnectionError, match=r"could not download http://127\S+ to \S+ \(wrong contents\)"):
        find(FILE, "0" * 64)
    assert files_below(tmp_path / "cache") == []


@pytest.mark.usefixtures("server")
def test_a_missing_file_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError, match=r"ind\.other\.y to \S+ \(HTTPError\): try again later, or put"):
        find("planetoid/ind.other.y", None)
    assert files_below(tmp_path / "cache") == []


def test_no_connection_is_one_sentence_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = free.getsockname()[1]
    monkeypatch.setenv("PCWINTER_MIRROR", f"http://127.0.0.1:{closed}")
    with pytest.raises(ConnectionError, match="by hand at planetoid/ind.pubmed.y in a folder") as caught:
        load("pubmed")
    sentence = str(caught.value)
    assert f"could not download http://127.0.0.1:{closed}/planetoid/ind.pubmed.y to " in sentence
    assert "set PCWINTER_DATA to that folder" in sentence
    assert "\n" not in sentence
    assert files_below(tmp_path / "cache") == []


def test_a_transfer_that_breaks_off_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    monkeypatch.setitem(_files.SOURCES, "planetoid", "http://127.0.0.1:9/public")
    with pytest.raises(
        ConnectionError, match=r"could not download http://127\.0\.0\.1:9/public/ind\.tiny\.y"
    ):
        find(FILE, None)
    assert _files.SOURCES["gnn-benchmark"].startswith("https://github.com/shchur/gnn-benchmark/")


# ---- the data folder


@pytest.mark.parametrize("through", ["argument", "environment"])
def test_the_data_folder_comes_before_the_cache(
    through: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    with pytest.raises(ValueError, match=r"ind\.tiny\.y is damaged or not the public file \(its sha256"):
        find(FILE, SHA256, tmp_path)
    assert (tmp_path / FILE).read_bytes() == CONTENT[:4]


@pytest.mark.parametrize("name", ["cora", "amazon-photo"])
def test_a_data_folder_that_does_not_exist(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match=r"missing does not exist: correct `data` or PCWINTER_DATA"):
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
    with pytest.raises(ValueError, match=f"asks for __builtin__.{name}, which no Planetoid file needs"):
        read_pickle(tmp_path / "x")


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
def test_pickles_of_today_are_read_too(protocol: int, tmp_path: Path) -> None:
    dense = np.eye(3, dtype=np.float32)
    content = {"a": dense, "b": sp.csr_matrix(dense), "c": defaultdict(list, {0: [1, 2]})}
    for key, value in content.items():
        put(tmp_path / key, pickle.dumps(value, protocol=protocol))
    if protocol in (0, 1):
        with pytest.raises(ValueError, match="which no Planetoid file needs"):
            read_pickle(tmp_path / "b")
        return
    np.testing.assert_array_equal(read_pickle(tmp_path / "a"), dense)
    np.testing.assert_array_equal(read_pickle(tmp_path / "b").csr().toarray(), dense)
    assert read_pickle(tmp_path / "c") == {0: [1, 2]}
