"""The number of threads affects the order of sums in BLAS."""


def test_another_limit_of_threads_is_named(notebook):
    """The answer names the cell that set it. Restoring it gives the earlier result."""
    book = notebook("threadpoolctl")
    book.run("import numpy as np, threadpoolctl\nx = np.random.default_rng(0).random(10**6)")
    asked = "total = float(x @ x)"
    book.run("first = threadpoolctl.threadpool_limits(1, 'blas')")
    book.run(asked, "asked")
    book.run("second = threadpoolctl.threadpool_limits(2, 'blas')")
    book.run(asked, "asked")
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("flag", "threadpoolctl.threadpool_limits")
    assert (cause["proof"], cause["fix"]) == (
        "proved",
        "import threadpoolctl; threadpoolctl.threadpool_limits(1, 'blas')",
    )
