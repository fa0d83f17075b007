"""Arrays, random keys and settings of JAX."""

# In a separate cell, as what JAX compiles at the first call takes seconds.
IMPORT = "import jax\njax.random.normal(jax.random.split(jax.random.key(0))[1], (3,)).tolist();"

SPLIT = "key, part = jax.random.split(key)\nx = jax.random.normal(part, (3,))\nx.tolist()"


def test_a_key_that_the_cell_splits_is_named(notebook):
    """Each run continues from the key of the run before."""
    book = notebook("jax")
    book.run(IMPORT)
    book.run("key = jax.random.key(0)")
    book.until_changed(SPLIT)
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"], cause["proof"]) == ("input", "key", "carried")


def test_the_cell_that_changed_an_array_is_named(notebook):
    """Numbers are compared; another key without use is no cause."""
    book = notebook("jax")
    book.run(IMPORT)
    book.run("key = jax.random.key(0)\nweights = jax.numpy.ones(3)")
    book.run("total = float(weights.sum())", "asked")
    book.run("weights = weights * 2\nkey = jax.random.fold_in(key, 1)")
    book.run("total = float(weights.sum())", "asked")
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"], cause["proof"]) == ("input", "weights", "proved")
    assert "[1, 1, 1] → [2, 2, 2]" in cause["message"]


def test_another_precision_is_named(notebook):
    """The setting of the process."""
    book = notebook("jax")
    book.run("import jax, jax.numpy as jnp")
    book.run("x = float(jnp.arange(3)[1] / 7)\nx", "asked")
    book.run("jax.config.update('jax_enable_x64', True)")
    book.run("x = float(jnp.arange(3)[1] / 7)\nx", "asked")
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"], cause["proof"]) == ("flag", "jax.config", "proved")
