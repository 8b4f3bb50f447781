// Nothing: the target that the tests' precompiled headers belong to needs a source file.
