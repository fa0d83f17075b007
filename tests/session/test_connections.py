"""The connections that a cell opens: which count as its own, and their names."""

from __future__ import annotations

import http.client
import importlib
import multiprocessing.connection
import socket
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing.connection import Client, Listener

import pytest

from ipytorchseed.introspection import ownership
from ipytorchseed.session import hearing
from ipytorchseed.session.files import FileWatch
from ipytorchseed.session.importing import ImportWatch


class Silent(BaseHTTPRequestHandler):
    """Answers each request, and keeps the connection open."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Send an empty answer."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture(scope="module")
def port():
    """Yield the port of a server whose thread started before any cell."""
    server = HTTPServer(("127.0.0.1", 0), Silent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture
def heard():
    """Return a function that runs another like a cell, and returns its connections."""

    def hear(cell):
        imports = ImportWatch()
        watch = FileWatch(imports)
        imports.start()
        watch.start()
        hearing.start(watch)
        try:
            cell()
        finally:
            hearing.stop(watch)
            imports.stop()
        return tuple(watch.connections.opened)

    return hear


def post(url):
    """Send something, as a cell does."""
    urllib.request.urlopen(url, data=b"order", timeout=30).close()  # noqa: S310 -- our own server


def test_a_connection_is_named_by_the_host_that_was_asked_for(heard, port):
    """The name is not the resolved address."""
    assert heard(lambda: post(f"http://localhost:{port}/")) == (f"localhost:{port}",)
    assert heard(lambda: post(f"http://127.0.0.1:{port}/")) == (f"127.0.0.1:{port}",)


def test_hosts_elsewhere_are_named_also_where_nobody_answers(heard, monkeypatch):
    """The attempt counts, as a datagram has no answer either."""
    entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 443))
    monkeypatch.setattr(
        socket, "getaddrinfo", hearing._heard(lambda *_, **__: [entry], *_resolver())
    )

    def cell():
        with closing(socket.socket()) as made, suppress(OSError):
            made.settimeout(0.001)
            made.connect(socket.getaddrinfo("example.org", 443)[0][4])
        with closing(socket.socket(type=socket.SOCK_DGRAM)) as made, suppress(OSError):
            made.sendto(b"count:1|c", ("192.0.2.8", 8125))

    assert heard(cell) == ("example.org:443", "192.0.2.8:8125")


def _resolver():
    return [tell for original, tell in hearing.CALLS if original is socket.getaddrinfo]


def test_what_an_earlier_cell_connected_is_named_when_something_is_sent(heard, port):
    """HTTP sessions keep their connections open between cells."""
    client = http.client.HTTPConnection("localhost", port)
    client.connect()

    def cell():
        client.request("POST", "/", body=b"order")
        client.getresponse().read()

    with closing(client):
        assert [name.rpartition(":")[2] for name in heard(cell)] == [str(port)]


def test_threads_that_the_cell_starts_are_its_own(heard, port):
    """So is an earlier cell's pool that runs its code. Other older threads are not."""

    def cell():
        thread = threading.Thread(target=post, args=(f"http://localhost:{port}/",))
        thread.start()
        thread.join()

    assert heard(cell) == (f"localhost:{port}",)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        url = f"http://localhost:{port}/"
        assert heard(lambda: pool.submit(post, url).result()) == (f"localhost:{port}",)
    begin, done = threading.Event(), threading.Event()

    def background():
        begin.wait(30)
        post(f"http://localhost:{port}/")
        done.set()

    threading.Thread(target=background, daemon=True).start()
    assert heard(lambda: (begin.set(), done.wait(30))) == ()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here")
def test_unix_sockets_count_where_the_users_code_opens_them(heard, tmp_path):
    """Those of multiprocessing, as in a DataLoader, do not."""
    path = str(tmp_path / "s")
    with Listener(path, family="AF_UNIX"):

        def cell():
            with closing(socket.socket(socket.AF_UNIX)) as made:
                made.connect(path)

        assert heard(cell) == (path,)
        assert heard(lambda: Client(path).close()) == ()
    assert multiprocessing.connection.__file__


def test_what_packages_connect_inside_the_machine_does_not_count(heard, port):
    """These are packages for kernels, pools and training. Other packages count."""
    source = (
        f"import socket\ndef connect(): socket.create_connection(('127.0.0.1', {port})).close()"
    )
    for name, counts in (("ipyparallel.client", False), ("requests.api", True)):
        names = {"__name__": name}
        exec(compile(source, f"/x/site-packages/{name}.py", "exec"), names)  # noqa: S102 -- ours
        assert bool(heard(lambda names=names: names["connect"]())) == counts


def test_the_class_is_as_it_was_afterwards(heard):
    """This holds even if the user has replaced a method."""
    before = dict(vars(socket.socket))
    heard(lambda: None)
    assert dict(vars(socket.socket)) == before

    def mine(made, address):
        raise OSError

    socket.socket.connect = mine
    try:
        heard(lambda: None)
        assert vars(socket.socket)["connect"] is mine
    finally:
        del socket.socket.connect


def test_connections_of_imports_do_not_count(heard, port, tmp_path, monkeypatch):
    """Packages that ask for updates when they are imported do so once."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    text = f"import socket\nsocket.create_connection(('127.0.0.1', {port})).close()"
    (folder / "asking_package.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    ownership.is_local_file.cache_clear()
    assert not heard(lambda: importlib.import_module("asking_package"))
    assert heard(lambda: exec(text, {"__name__": "__main__"}))  # noqa: S102
    sys.modules.pop("asking_package")
