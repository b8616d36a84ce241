"""A Dask cluster for a run: one that is there already, or worker processes that are started and ended."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

from plx import deadline
from plx.cluster.part import packed
from plx.cluster.spread import LOOK, PATIENCE, lost_chains, spread
from plx.cluster.versions import asked, versions
from plx.errors import CallError, Diagnostic, PlxError
from plx.extras import library
from plx.infer.chains import Chains
from plx.infer.mcmc.samplers import SAMPLERS, Sampler
from plx.infer.options import checked

_CONNECT = 5
"""Seconds in which a scheduler must answer."""

_STARTING = 60
"""Seconds in which worker processes of this machine must have started."""

_NO_DASHBOARD = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
"""The scheduler serves its health all the same: on any port, as two runs may go on at once."""

_WORKER = "from distributed.cli.dask_worker import main; main()"


class Crew:
    """The workers of a client."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def workers(self) -> dict[str, int]:
        """The threads of every worker that is there. Raises LostChainsError if the scheduler is not."""
        try:
            return dict(self.client.nthreads())
        except (OSError, RuntimeError, ValueError):
            raise lost_chains("the scheduler of the cluster is gone") from None

    def begun(self, work: Callable[..., Any], *given: object) -> Any:
        """The result to come of work that any worker may do, and another if that one is lost."""
        from dask.config import set as setting

        with setting({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self.client.submit(work, *given, pure=False)

    def result(self, begun: Any) -> Any:
        """The result of work. Raises what it raised, LostChainsError where no worker is left for it, and
        OutOfTimeError."""
        seen = time.monotonic()
        while True:
            try:
                return begun.result(timeout=LOOK)
            except TimeoutError:
                deadline.check()
                now = time.monotonic()
                seen = now if self.workers() else seen
                if now - seen > PATIENCE:
                    raise lost_chains("no worker of the cluster is left") from None
            except _lost_work():
                raise lost_chains("the workers of the cluster were lost at their work") from None

    def each(self, work: Callable[[Any], Any], given: Sequence[Any]) -> list[Any]:
        """What work, a function of a module, makes of each of these, in this order: any worker does any of
        them. Raises as `result`, and what work raises."""
        left = deadline.seconds_left()
        begun = [self.begun(_worked, work, packed(one), left) for one in given]
        return [self.result(one) for one in begun]

    def actor(self, begun: Any, kind: type, address: str) -> Any:
        """The actor that a worker has begun. Raises OSError if the worker is lost before: Dask would wait for
        it to come back, so it is asked for only once it is there."""
        from distributed.actor import Actor

        make: Any = Actor
        while True:
            try:
                if (error := begun.exception(timeout=LOOK)) is not None:
                    raise error
                break
            except TimeoutError:
                if address not in self.workers():
                    raise OSError(f"{address} is gone") from None
        with self.client.as_current():  # the result of the task would belong to the default client
            return make(kind, address, begun.key)

    def spread(self, sampler: Sampler[Any], chains: Chains, count: int) -> Chains:
        """The chains in parts, moved by the workers."""
        return spread(self, sampler, chains, count)


def _worked(work: Callable[[Any], Any], given: bytes, seconds: float) -> Any:
    """Done on a worker, which gives up when nobody waits any more."""
    with deadline.within(seconds):
        return work(pickle.loads(given))


def require_spread(method: str) -> None:
    """Raises CallError for a method whose chains depend on each other."""
    if method in SAMPLERS and SAMPLERS[method].sums:
        hint = "leave out the method, or the cluster"
        message = f"the ladders of {method} are tuned together, so no cluster moves them"
        raise CallError(Diagnostic(message, hint=hint))


def require_lookers(objective: str) -> None:
    """Raises CallError for an objective whose draws stay in one process."""
    if objective == "stochastic":
        message = "the draws of a stochastic fit stay in one process, so no cluster looks at its worlds"
        raise CallError(Diagnostic(message, hint="leave out the objective, or the cluster"))


def _lost_work() -> tuple[type[BaseException], ...]:
    """What Dask raises where work is given up."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    return CancelledError, KilledWorker


@contextmanager
def crew(cluster: Any, workers: int | None) -> Iterator[Crew | None]:
    """The workers for a run: of the scheduler at an address, of a client, or so many processes of one's own.

    None where neither is given. Raises CallError for both, MissingLibraryError without Dask, PlxError where
    no scheduler answers, no worker is there, or one runs on something else.
    """
    if cluster is None and workers is None:
        yield None
        return
    if workers is not None:
        workers = checked(workers=workers)["workers"]
    if cluster is not None and workers is not None:
        hint = "leave out `workers`: the cluster has its own"
        raise CallError(Diagnostic("`cluster` and `workers` are two ways to say where chains run", hint=hint))
    distributed = library("distributed", "runs on a cluster")
    with ExitStack() as stack:
        if workers is not None:
            client = stack.enter_context(_own(distributed, workers))
        elif isinstance(cluster, str):
            client = stack.enter_context(_at(distributed, cluster))
        elif isinstance(cluster, distributed.Client):
            client = cluster
        else:
            message = f"`cluster` is the address of a scheduler or a client of Dask, not {cluster!r:.60}"
            raise CallError(Diagnostic(message, hint="cluster='tcp://host:8786'"))
        found = Crew(client)
        _require_alike(found)
        yield found


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the log of Dask: what matters is said in words."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _at(distributed: Any, address: str) -> Iterator[Any]:
    """A client of the scheduler at an address."""
    with _quiet():
        try:
            _knock(address)
            client = _client(distributed, address)
        except _NoDaskError:
            hint = "`dask scheduler` starts one, and prints its address, such as tcp://host:8786"
            raise PlxError(Diagnostic(f"no Dask scheduler answers at {address}", hint=hint)) from None
        with client:
            yield client


class _NoDaskError(Exception):
    """What is at an address, if anything, is no scheduler."""


def _knock(address: str) -> None:
    """Raises _NoDaskError where what is at an address does not speak as Dask: a client would wait for it, and
    is never closed where it cannot begin."""
    from distributed.comm.core import connect

    reach: Callable[..., Any] = connect

    async def probe() -> None:
        (await asyncio.wait_for(reach(address, timeout=_CONNECT), _CONNECT)).abort()

    with ThreadPoolExecutor(1) as pool:  # this thread may have a loop of its own
        try:
            pool.submit(lambda: asyncio.run(probe())).result()
        except Exception as error:  # as anything may answer: Dask takes a banner for the length of a message
            raise _NoDaskError from error


def _client(distributed: Any, scheduler: Any) -> Any:
    """A client that leaves the versions of others to `_require_alike`. Raises _NoDaskError."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mismatched versions found")
        try:
            return distributed.Client(scheduler, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise _NoDaskError from error


@contextmanager
def _own(distributed: Any, workers: int) -> Iterator[Any]:
    """A client of so many processes on this machine, out of reach of Ctrl-C, which end with it."""
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        scheduler = distributed.LocalCluster(
            n_workers=0, scheduler_kwargs=_NO_DASHBOARD, silence_logs=logging.CRITICAL + 1
        )
        stack.enter_context(scheduler)
        client = stack.enter_context(distributed.Client(scheduler, set_as_default=False))
        for _ in range(workers):
            stack.callback(_end, _worker(scheduler.scheduler_address, folder))
        try:
            client.wait_for_workers(workers, timeout=_STARTING)
        except TimeoutError:
            message = f"of {workers} workers, {len(client.nthreads())} started within {_STARTING} seconds"
            raise PlxError(Diagnostic(message, hint="ask for fewer")) from None
        yield client


def _worker(scheduler: str, folder: str) -> subprocess.Popen[bytes]:
    """A worker with the modules of this process, in a session of its own, which Ctrl-C does not reach."""
    return subprocess.Popen(
        [
            *(sys.executable, "-P", "-c", _WORKER, scheduler, "--nthreads", "1"),
            *("--no-nanny", "--no-dashboard", "--memory-limit", "0", "--death-timeout", "30"),
            *("--local-directory", folder),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _require_alike(found: Crew) -> None:
    """Raises PlxError where there is no worker, or one that would not do the same as this process."""
    if not found.workers():
        address = found.client.scheduler.address
        hint = f"`dask worker {address}` starts one"
        raise PlxError(Diagnostic(f"the cluster at {address} has no workers", hint=hint))
    theirs = found.client.run(eval, asked())
    here = versions()
    for address, there in theirs.items():
        other = [f"{name} {there[name]} (here {here[name]})" for name in here if there[name] != here[name]]
        if other:
            hint = "give all workers the environment of this process"
            raise PlxError(Diagnostic(f"the worker {address} has {', '.join(other)}", hint=hint))
