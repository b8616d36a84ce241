"""Runs whose chains are moved by worker processes, some of which die."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import plx
from plx.cluster import connect, spread
from plx.cluster.connect import Crew
from plx.cluster.spread import SpreadChains
from plx.deadline import OutOfTimeError
from plx.infer import exact_choice as choice
from plx.infer.compare import compare as compared
from plx.infer.exact import parted
from tests.cluster.test_parts import PROGRAM
from tests.docs.blocks import call
from tests.use.test_checkpoint import KilledError, kill_after, told

distributed = pytest.importorskip("distributed")

RUN: dict[str, Any] = {"method": "gibbs", "seed": 5, "samples": 20_000, "accuracy": 0.008, "chains": 20}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connect._own(distributed, 4) as client:
        yield client


@pytest.fixture(scope="module")
def alone() -> str:
    return told(plx.run(PROGRAM, **RUN))


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are kept every few calls."""
    monkeypatch.setattr(spread, "_EVERY", 0.05)
    monkeypatch.setattr(spread, "LOOK", 0.1)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_number_of_workers_changes_no_answer(
    workers: int, client: Any, alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = Crew.workers
    monkeypatch.setattr(Crew, "workers", lambda self: dict(list(every(self).items())[:workers]))
    assert told(plx.run(PROGRAM, cluster=client, **RUN)) == alone


def test_two_runs_have_workers_at_once(client: Any) -> None:
    with connect._own(distributed, 1) as other:
        assert len(other.nthreads()) == 1 and len(client.nthreads()) == 4


def test_ctrl_c_in_a_call_leaves_no_chain_behind(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from plx.infer.mcmc.samplers import SAMPLERS
    from tests.cluster.test_parts import PROBLEM

    sampler = SAMPLERS["gibbs"]
    whole = sampler.init(PROBLEM, 3, 9, 1)
    chains = Crew(client).spread(sampler, whole, 9)
    assert isinstance(chains, SpreadChains)

    def interrupted(self: SpreadChains, place: object, future: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as within, pytest.raises(KeyboardInterrupt):
        within.setattr(SpreadChains, "_waited", interrupted)
        chains.step(3, 1)
    whole.step(3, 1)
    assert (chains.step(2, 1) == whole.step(2, 1)).all()


def test_ctrl_c_brings_the_answers_so_far(client: Any) -> None:
    def report(progress: Any) -> None:
        if progress.error is not None:
            raise KeyboardInterrupt

    with pytest.raises(plx.Interrupted) as caught:
        plx.run(PROGRAM, cluster=client, progress=report, **RUN | {"samples": 10**9})
    assert caught.value.result is not None
    assert abs(caught.value.result[1].probability - plx.run(PROGRAM)[1].probability) < 0.2


@pytest.mark.parametrize("again", ["alone", "workers"])
def test_a_killed_run_goes_on_from_its_checkpoint(
    again: str, client: Any, alone: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process, or on other workers than it had."""
    path, every = tmp_path / "run.ckpt", Crew.workers
    with monkeypatch.context() as within:
        kill_after(3, within)
        with pytest.raises(KilledError):
            plx.run(PROGRAM, cluster=client, checkpoint=path, **RUN)
    monkeypatch.setattr(Crew, "workers", lambda self: dict(list(every(self).items())[:2]))
    assert told(plx.resume(path, cluster=client if again == "workers" else None)) == alone


def test_the_command_line(client: Any, tmp_path: Any) -> None:
    file = tmp_path / "p.plx"
    file.write_text(PROGRAM, encoding="utf-8")
    options = [text for name, value in RUN.items() for text in (f"--{name}", str(value))]
    command = ["run", str(file), *options, "--format", "csv"]
    code, said = call([*command, "--cluster", client.scheduler.address])
    assert (code, said) == call(command) and code == 0


def test_a_silent_worker_does_not_outlast_the_time(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = next(iter(client.run(os.getpid).values()))
    step, left = SpreadChains.step, [20]

    def stepped(self: SpreadChains, draws: int, thin: int) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(pid, signal.SIGSTOP)
        return step(self, draws, thin)

    monkeypatch.setattr(SpreadChains, "step", stepped)
    monkeypatch.setattr(spread, "_GRACE", 0.2)
    try:
        options = RUN | {"samples": 10**9, "accuracy": 1e-9, "seconds": 3}
        result = plx.run(PROGRAM, cluster=client, **options)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert any("did not answer in time" in note for note in result.notes) and not result.converged


# ------------------------------------------------------------------------- side by side


class _EvenClock:
    """Each look at it takes a hundredth of a second, so that all runs make the same calls."""

    def __init__(self) -> None:
        self.looks = 0

    @property
    def seconds(self) -> float:
        self.looks += 1
        return 0.01 * self.looks


COMPARED: dict[str, Any] = {"seconds": 0.2, "chains": 2, "lanes": 10, "seed": 3}


@pytest.mark.parametrize("protocol", ["sweeps", "paper"])
def test_methods_are_compared_by_workers(protocol: Any, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many draws bring the same divergence, for any number of workers and for none."""
    monkeypatch.setattr(compared, "Clock", _EvenClock)
    model, methods, every = plx.compile(PROGRAM), ["gibbs"], Crew.workers
    alone = plx.compare(model, methods, protocol=protocol, **COMPARED)
    for workers in (1, 3):
        with monkeypatch.context() as within:
            within.setattr(Crew, "workers", lambda self, n=workers: dict(list(every(self).items())[:n]))
            found = plx.compare(model, methods, protocol=protocol, cluster=client, **COMPARED)
        for one, other in zip(alone.curves, found.curves, strict=True):
            shift = len(one.samples) - len(other.samples)  # what is sent is on the clock as well
            assert shift in (0, 1) and (one.kl == other.kl).all() and (one.samples == other.samples).all()
        assert "what is sent to workers" in found.summary[1]


def test_the_command_that_compares(client: Any, tmp_path: Any) -> None:
    file = tmp_path / "p.plx"
    file.write_text(PROGRAM, encoding="utf-8")
    command = ["compare", str(file), "--cluster", client.scheduler.address]
    code, said = call([*command, "--methods", "gibbs", "--seconds", "0.1", "--chains", "1"])
    assert code == 0 and "so is what is sent to workers" in " ".join(said.split())
    code, said = call([*command, "--methods", "gibbs,tempered"])
    assert code == 2 and "the ladders of tempered are tuned together" in said


# ------------------------------------------------------------------------- exact answers

APART = """
type P = 1..3
type S = 1..4
random f(P, S): {a, b, c}
weight 0.3 * x: f(x, y) = f(x, y + 1) for x in P, y in 1..3
weight 0.1 * y: f(x, y) = a for x in P, y in S
query f(x, 2) for x in P
query (f(2, 1), f(2, 4))
query logz
"""


@pytest.fixture
def cheap_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every component is worth a call."""
    monkeypatch.setattr(parted, "WORTH_SENDING", 10.0)
    monkeypatch.setattr(choice, "FEW", 0)


@pytest.mark.usefixtures("cheap_calls")
def test_components_are_answered_by_workers(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the same numbers, whoever finds them; what is sent is known to be more than one part."""
    every, begun, said = Crew.workers, Crew.begun, []
    alone = plx.run(APART)
    sent: list[object] = []
    monkeypatch.setattr(Crew, "begun", lambda self, *given: (sent.append(given), begun(self, *given))[1])
    for workers in (1, 3):
        monkeypatch.setattr(Crew, "workers", lambda self, n=workers: dict(list(every(self).items())[:n]))
        found = plx.run(APART, cluster=client)
        said.append(found.to_dict() | {"seconds": 0})
    assert said[0] == said[1] and len(sent) >= 6
    assert found.log_z == pytest.approx(alone.log_z, abs=1e-12)
    for one, other in zip(found, alone, strict=True):
        assert one.distribution == pytest.approx(other.distribution, abs=1e-12)


@pytest.mark.usefixtures("cheap_calls")
def test_ctrl_c_and_the_end_of_the_time_stop_exact_answers(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Crew, begun: object) -> None:
        raise KeyboardInterrupt

    def late(self: Crew, begun: object) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(Crew, "result", interrupted)
    with pytest.raises(plx.Interrupted):
        plx.run(APART, cluster=client)
    monkeypatch.setattr(Crew, "result", late)
    with pytest.raises(plx.PlxError, match="exact inference has no answer after"):
        plx.run(APART, method="exact", seconds=60, cluster=client)


# ------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cluster": "tcp://127.0.0.1:1"}, "no Dask scheduler answers at tcp://127.0.0.1:1"),
        ({"cluster": "nonsense://here"}, "no Dask scheduler answers at nonsense://here"),
        ({"cluster": "nonsense:xx"}, "no Dask scheduler answers at nonsense:xx"),
        ({"cluster": 3}, "`cluster` is the address of a scheduler or a client of Dask, not 3"),
        ({"cluster": "tcp://127.0.0.1:1", "workers": 2}, "are two ways to say where chains run"),
        ({"workers": 0}, "`workers` is a whole number, 1 or more, not 0"),
        ({"workers": 2, "method": "tempered"}, "the ladders of tempered are tuned together"),
        ({"workers": 2, "exact_rationals": True, "method": "auto"}, "exact rationals are not sampled"),
    ],
)
def test_mistakes_are_told(options: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "_CONNECT", 0.3)
    with pytest.raises(plx.PlxError, match=said):
        plx.run(PROGRAM, **RUN | {"samples": 100} | options)


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ImportError, match=r"runs on a cluster need distributed[^']*\n.*plx\[cluster\]"):
        plx.run(PROGRAM, workers=2)


def test_a_worker_of_another_version_is_named(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = connect.versions()
    monkeypatch.setattr(connect, "versions", lambda: here | {"numpy": "1.0"})
    with pytest.raises(plx.PlxError, match=r"the worker tcp://\S+ has numpy \S+ \(here 1\.0\)"):
        plx.run(PROGRAM, cluster=client, **RUN)


def test_what_is_no_scheduler_is_told_whatever_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask takes the first eight bytes for a length, as those of a banner, for which no memory is enough."""
    monkeypatch.setattr(connect, "_CONNECT", 1.0)
    for said in (b"SSH-2.0-server\r\n", b"\x08" + bytes(7) + b"nonsense" * 4):
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=_greet, args=(server, said), daemon=True).start()
            address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
            with pytest.raises(plx.PlxError, match=f"no Dask scheduler answers at {address}"):
                plx.run(PROGRAM, cluster=address, **RUN)


def _greet(server: socket.socket, said: bytes) -> None:
    with suppress(OSError):
        while True:
            with server.accept()[0] as peer:
                peer.sendall(said)
                peer.recv(1 << 16)


# ---------------------------------------------------------------- last, as workers die here


def killing(at: int, client: Any, which: slice, patch: pytest.MonkeyPatch) -> None:
    """Kill workers after so many calls."""
    pids = list(client.run(os.getpid).values())[which]
    step, left = SpreadChains.step, [at]

    def stepped(self: SpreadChains, draws: int, thin: int) -> Any:
        left[0] -= 1
        if left[0] == 0:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        return step(self, draws, thin)

    patch.setattr(SpreadChains, "step", stepped)


@pytest.mark.parametrize("calls", [1, 20])
def test_a_worker_that_is_killed_changes_no_answer(
    calls: int, client: Any, alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(client.nthreads())
    killing(calls, client, slice(1), monkeypatch)
    assert told(plx.run(PROGRAM, cluster=client, **RUN)) == alone
    assert len(client.nthreads()) == before - 1


@pytest.mark.usefixtures("cheap_calls")
def test_a_worker_that_is_killed_costs_no_exact_answer(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before, begun = client.run(os.getpid), Crew.begun
    alone = told(plx.run(APART, cluster=client))
    left = [2]

    def killing(self: Crew, *given: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(next(iter(before.values())), signal.SIGKILL)
        return begun(self, *given)

    monkeypatch.setattr(Crew, "begun", killing)
    assert told(plx.run(APART, cluster=client)) == alone
    assert len(client.nthreads()) == len(before) - 1


def test_where_no_worker_is_left_there_are_the_answers_so_far(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread, "PATIENCE", 0.3)
    killing(20, client, slice(None), monkeypatch)
    result = plx.run(PROGRAM, cluster=client, **RUN)
    assert "no worker of the cluster is left" in result.notes
    assert result.inference.draws < RUN["samples"]
    with pytest.raises(plx.PlxError, match="has no workers"):
        plx.run(PROGRAM, cluster=client, **RUN)
