"""The cluster that is meant: one that is connected, or one that runs under a profile."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from ipytorchseed.errors import LookupFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    T = TypeVar("T")

_START = "ipyparallel.Cluster(n=2).start_and_connect_sync()"


def import_ipyparallel() -> Any:  # noqa: ANN401 -- a module
    """Import ipyparallel.

    Raises:
        LookupFailure: It is not installed.
    """
    try:
        import ipyparallel
    except ImportError:
        msg = '--engines needs ipyparallel: pip install "ipytorchseed[cluster]"'
        raise LookupFailure(msg) from None
    return ipyparallel


def find_client(values: Iterable[Any]) -> Any:  # noqa: ANN401 -- an ipyparallel.Client
    """Return the client that is connected to a cluster, of several the last.

    Args:
        values: Of the user's namespace: clients, or views of them.

    Raises:
        LookupFailure: None is there, or no engine is left; or ipyparallel is not installed.
    """
    ipyparallel = import_ipyparallel()
    held: dict[int, Any] = {}
    for value in values:
        client = value.client if issubclass(type(value), ipyparallel.client.view.View) else value
        if issubclass(type(client), ipyparallel.Client):
            held[id(client)] = client
    clients = [each for each in held.values() if not each._closed]  # noqa: SLF001 -- none is public
    if not clients:
        msg = f"no ipyparallel cluster is connected here; for example: rc = {_START}"
        raise LookupFailure(msg)
    return _with_engines(clients[-1], "the connected cluster")


def connect(profile: str) -> Any:  # noqa: ANN401 -- an ipyparallel.Client
    """Connect to the cluster that runs under a profile of IPython's.

    Args:
        profile: Its name; empty for ``default``.

    Raises:
        LookupFailure: None runs, it does not answer, or it has no engine; or ipyparallel is not
            installed.
    """
    ipyparallel = import_ipyparallel()
    profile = profile or "default"
    what = f"profile {profile!r}"
    running = ipyparallel.ClusterManager().load_clusters(profile=profile)
    ways = [each.connect_client_sync for each in running.values()]
    said = ""
    for way in [*ways, partial(ipyparallel.Client, profile=profile)]:
        try:
            client = way()
        except (OSError, ipyparallel.error.IPythonError) as error:
            said = str(error).partition("\n")[0].rstrip(".")
        else:
            return _with_engines(client, what)
    more = "" if profile == "default" else f" --profile={profile}"
    msg = f"no cluster answers under {what} ({said}); for example: ipcluster start -n 4{more}"
    raise LookupFailure(msg)


def _with_engines(client: Any, what: str) -> Any:  # noqa: ANN401 -- an ipyparallel.Client
    if not client.ids:
        msg = f"{what} has no engine now: wait for one, or start more"
        raise LookupFailure(msg)
    return client


def ask(view: Any, function: Callable[..., T], *given: object) -> list[T]:  # noqa: ANN401
    """Call a function on every engine of a view; return what each returned.

    Raises:
        LookupFailure: It failed on one of them; the message says why, and what to do.
    """
    try:
        found: list[T] = view.apply_sync(function, *given)
    except import_ipyparallel().error.RemoteError as raised:
        raise LookupFailure(explain(raised)) from None
    return found


def explain(raised: Any) -> str:  # noqa: ANN401 -- an ipyparallel.error.RemoteError
    """Say why an engine could not do something, or the first of several, and what to do."""
    several = getattr(raised, "elist", None) or [
        (raised.ename, raised.evalue, "", raised.engine_info)
    ]
    name, said, _, where = several[0][:4]
    if name == LookupFailure.__name__:
        return str(said)
    if name == "ModuleNotFoundError" and "'ipytorchseed" in said:
        return "ipytorchseed is not installed where the engines run: install it there, too"
    unknown = re.match(r"Can't get attribute '(\w+)' on <module '__main__'", said)
    if name == "AttributeError" and unknown:
        return f"the engines do not know {unknown[1]}: put %%px --local on top of its cell"
    engine = where.get("engine_id", "?") if isinstance(where, dict) else "?"
    return f"engine {engine}: {name}: {said}".partition("\n")[0]
