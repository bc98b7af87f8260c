"""python -m loaderscope, and the command of the installed package: the program itself takes over."""

import os
import sys

from ._program import Error, program


def main():
    try:
        path = program()
    except Error as error:
        sys.exit(f"loaderscope: {error}")
    os.execv(path, ["loaderscope", *sys.argv[1:]])


if __name__ == "__main__":
    main()
