"""Test that errors of too little memory are told from errors of a model."""

import errno

import pytest
import torch

from evaluator.core.memory import is_out_of_memory
from submissions.texts.errors import TemplateProcessError


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        TemplateProcessError("the process that renders the chat template was killed"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("can't start new thread"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory: you tried to allocate"
        ),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_too_little_memory_is_recognized(error: Exception) -> None:
    assert is_out_of_memory(error)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        ValueError("out of memory tokens"),
        OSError(errno.ENOSPC, "No space left on device"),
        KeyError("memory"),
    ],
)
def test_other_errors_are_not(error: Exception) -> None:
    assert not is_out_of_memory(error)
