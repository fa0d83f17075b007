"""Environments of gymnasium have a generator, and their spaces have others."""

MAKE = "import gymnasium\nenv = gymnasium.make('CartPole-v1')\nenv.reset(seed=0);"

ASKED = "actions = [int(env.action_space.sample()) for _ in range(30)]\nactions"


def test_a_space_that_moved_on_is_named(notebook):
    """By the property that users know, without wrappers."""
    book = notebook("gymnasium")
    book.run(f"{MAKE}\nenv.action_space.seed(0);")
    book.until_changed(ASKED)
    (cause,) = book.why()["causes"]
    assert (cause["kind"], cause["name"]) == ("rng", "env.action_space.np_random")
    assert cause["proof"] == "proved"


def test_a_space_without_a_seed_is_named(notebook):
    """The environment's seed does not reach it; the answer has the call that does."""
    book = notebook("gymnasium")
    for _ in range(2):
        book.run(MAKE, "make")
        book.run(ASKED, "asked")
    (root, *_) = book.why()["roots"]
    assert (root["kind"], root["name"]) == ("entropy", "gymnasium.Space.sample")
    assert "env.action_space.seed(42)" in book.why()["keep"]
    book.run("env.action_space.seed(42);", "seed")
    first = book.run(ASKED, "asked")
    book.run("env.action_space.seed(42);", "seed")
    assert book.run(ASKED, "asked") == first


def test_a_space_whose_generator_the_cell_itself_makes_is_named(notebook):
    """The first draw seeds it; flags of the environment come after it."""
    book = notebook("gymnasium")
    book.run("import gymnasium\nenv = gymnasium.make('CartPole-v1')")
    book.until_changed(f"env.reset(seed=0)\n{ASKED}\nfound = env.step(actions[0])\nactions")
    answer = book.why()
    first = answer["causes"][0]
    assert (first["kind"], first["name"]) == ("entropy", "gymnasium.Space.sample")
    assert answer["keep"][0] == "env.action_space.seed(42)"
