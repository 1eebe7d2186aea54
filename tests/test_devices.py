"""Devices that are there, and what is said where they are not."""

import sys
from types import SimpleNamespace

import pytest

from svmselect import devices
from svmselect.devices import (
    check_device,
    free_bytes,
    get_device,
    load_torch,
    usable,
    within_memory,
)


def torch_that(sees_a_card):
    cuda = SimpleNamespace(
        is_available=lambda: sees_a_card,
        mem_get_info=lambda device: (100, 200),
        memory_reserved=lambda device: 50,
        memory_allocated=lambda device: 20,
    )
    return SimpleNamespace(cuda=cuda)


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match=r"torch, which is not installed.*svmselect\[gpu\]"):
        load_torch("cuda")
    on, said = usable("cuda:1")
    assert on == "cpu"
    assert said == (
        "device='cuda:1' needs torch, which is not installed; all was computed on the processor"
    )


def test_without_a_card(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", torch_that(False))
    with pytest.raises(ValueError, match='torch finds no GPU here; use device="cpu"'):
        get_device("cuda")
    assert usable("cuda") == (
        "cpu", "device='cuda': torch finds no GPU here; all was computed on the processor"
    )  # fmt: skip
    assert usable("torch-cpu") == ("torch-cpu", "")


def test_with_a_card(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", torch_that(True))
    assert usable("cuda") == ("cuda", "")
    assert free_bytes("cuda") == 130
    assert free_bytes("torch-cpu") is None


def test_what_is_no_device():
    for refuse in (check_device, usable, devices.get_device):
        with pytest.raises(ValueError, match="'tpu' is not one of"):
            refuse("tpu")


def test_what_has_no_room():
    said = "device='cuda' has no room for the matrices of 90,000 rows; use fewer"
    with pytest.raises(ValueError, match=said), within_memory("cuda", 90_000, "use fewer"):
        raise RuntimeError("CUDA out of memory. Tried to allocate 60 GiB")
    with pytest.raises(RuntimeError, match="another"), within_memory("cuda", 90_000, "use fewer"):
        raise RuntimeError("another thing")


@pytest.mark.torch
def test_the_processor_runs_out_of_memory_too():
    torch = load_torch("torch-cpu")
    with pytest.raises(ValueError, match="no room"), within_memory("torch-cpu", 1, "use fewer"):
        torch.zeros(2**58, dtype=torch.float64)
