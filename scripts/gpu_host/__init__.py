"""What scripts/gpu-test and scripts/bench gpu do on a host with a GPU. Python's own library is enough."""
