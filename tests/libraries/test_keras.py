"""Seed generators and dtypes of Keras, which runs on torch here."""

SETUP = "import os; os.environ['KERAS_BACKEND'] = 'torch'\nimport keras, numpy as np"

DRAW = "x = keras.ops.convert_to_numpy(keras.random.normal((3,)))\nx.tolist()"

DROP = "out = keras.ops.convert_to_numpy(drop(ones, training=True))\nout.tolist()"

WEIGHT = "layer = keras.layers.Dense(2, kernel_initializer='ones')\nlayer(ones).dtype"


def test_its_stream_is_named_and_seeded(notebook):
    """The generator that no variable holds."""
    book = notebook("keras")
    book.run(f"{SETUP}\nkeras.random.normal((1,));")
    book.until_changed(DRAW)
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"], cause["proof"]) == ("rng", "keras", "proved")
    assert "Keras's random stream had moved on" in cause["message"]
    shown = set()
    for _ in range(2):
        book.run("%seed 42 -q", "seed")
        shown.add(book.run(DRAW, "asked"))
    assert len(shown) == 1


def test_the_generator_of_a_layer_is_named_and_seeded(notebook):
    """The layer itself is not accused of the names of arguments that it caches."""
    book = notebook("keras")
    book.run(f"{SETUP}\nones = np.ones((2, 8), 'float32')")
    book.run("drop = keras.layers.Dropout(0.5, seed=1)")
    book.until_changed(DROP)
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"], cause["proof"]) == (
        "rng",
        "drop.seed_generator",
        "proved",
    )
    shown = set()
    for _ in range(2):
        book.run("%seed 42 --generators -q", "seed")
        shown.add(book.run(DROP, "asked"))
    assert len(shown) == 1


def test_another_policy_is_named(notebook):
    """Not the policy that the first layer makes, which is the default."""
    book = notebook("keras")
    book.run(f"{SETUP}\nones = np.ones((1, 3), 'float32')")
    book.run(WEIGHT, "asked")
    book.run("keras.config.set_dtype_policy('mixed_bfloat16')")
    book.run(WEIGHT, "asked")
    (cause, *_) = book.why()["causes"]  # the other is the counter in the layer's name
    assert (cause["kind"], cause["name"], cause["proof"]) == ("flag", "keras.config", "proved")
    assert "dtype_policy float32 → mixed_bfloat16" in cause["message"]


def test_the_counter_in_the_names_of_layers_is_named(notebook):
    """With the same seed, the numbers repeat and the layer has another name."""
    book = notebook("keras")
    book.run(SETUP)
    asked = "%seed 42 -q\nlayer = keras.layers.Dense(2)\nlayer.build((None, 3))"
    for _ in range(2):
        book.run(asked, "asked")
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("flag", "keras.utils.clear_session")
    assert "names of dense" in cause["message"]
