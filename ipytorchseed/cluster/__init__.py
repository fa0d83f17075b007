"""Work spread over the engines of an ipyparallel cluster; the only folder that knows ipyparallel."""
