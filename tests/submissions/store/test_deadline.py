"""Test that calls are bounded in time, and that those that hang do not add up."""

from operator import getitem
from threading import Event
from threading import enumerate as enumerate_threads

import pytest

from submissions.store.deadline import MAX_ABANDONED, Deadline


def test_run_returns_value_and_raises_error() -> None:
    deadline = Deadline()
    assert deadline.run(lambda: 3, 10.0) == 3
    with pytest.raises(KeyError):
        deadline.run(lambda: getitem({}, "absent"), 10.0)
    with pytest.raises(TimeoutError, match="own"):  # of the call itself
        deadline.run(lambda: (_ for _ in ()).throw(TimeoutError("own")), 10.0)


def test_run_abandons_hanging_calls_up_to_limit() -> None:
    deadline = Deadline()
    end = Event()
    of_other_tests = set(enumerate_threads())  # calls that they abandoned may hang for longer
    for _ in range(MAX_ABANDONED):
        with pytest.raises(TimeoutError, match="no answer within"):
            deadline.run(end.wait, 0.01)
    with pytest.raises(TimeoutError, match="earlier calls have not returned"):
        deadline.run(lambda: 3, 10.0)
    end.set()
    for thread in set(enumerate_threads()) - of_other_tests:
        thread.join(10)
    assert deadline.run(lambda: 3, 10.0) == 3
