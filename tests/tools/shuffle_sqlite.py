"""Puts the rows of all tables of an SQLite file in random order: shuffle_sqlite.py FILE SEED."""
import random
import sqlite3
import sys


def shuffle(file, seed):
    draw = random.Random(seed)
    tables = [name for name, in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        rows = file.execute(f'SELECT * FROM "{table}"').fetchall()
        draw.shuffle(rows)
        file.execute(f'DELETE FROM "{table}"')
        if rows:
            file.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(rows[0]))})', rows)


if __name__ == "__main__":
    with sqlite3.connect(sys.argv[1]) as given:
        shuffle(given, int(sys.argv[2]))
