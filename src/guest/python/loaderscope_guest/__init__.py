"""Measures a PyTorch DataLoader from inside the program that uses it. Part of loaderscope; needs nothing but
the standard library, and the modules of the user's program that it looks at."""
