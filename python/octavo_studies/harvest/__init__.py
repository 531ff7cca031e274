"""Memory harvesting (HUVM, USENIX ATC 2022): idle memory of neighbours as a level between a GPU and the host."""
