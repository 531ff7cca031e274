"""Host or device for each data structure (MemMap, PACT 2020): every placement of whole programs, and the model's."""
