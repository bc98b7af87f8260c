import ast
import pathlib
import tomllib
import unittest

from program import with_changes, with_setting

HERE = pathlib.Path(__file__).resolve().parents[1]


def listed():
    with open(HERE / "kinds.toml", "rb") as file:
        return tomllib.load(file)


class SettingsTest(unittest.TestCase):
    def test_replaces_the_value_of_a_flag(self):
        self.assertEqual(with_setting(["data", "--workers", "1", "-x"], "--workers", "4"), ["data", "--workers", "4", "-x"])
        self.assertEqual(with_setting(["--workers=1"], "--workers=", "4"), ["--workers=4"])

    def test_replaces_a_flag_without_a_value(self):
        self.assertEqual(with_setting(["--no-pin-memory"], "+pin-memory", "true"), ["--pin-memory"])
        self.assertEqual(with_setting([], "+pin-memory", "false"), ["--no-pin-memory"])

    def test_uses_the_words_of_the_program_for_two_settings(self):
        row = {"flags": listed()["defaults"]["flags"]}
        changes = {"persistent-workers": "true", "num-workers": "0"}
        self.assertEqual(with_changes(row, ["data"], [], changes), [["data", "--persistent-workers", "--num-workers", "0"], []])

    def test_gives_loaderscope_settings_without_own_flag(self):
        changes = {"persistent-workers": "true", "prefetch-factor": "4"}
        self.assertEqual(with_changes({}, ["data"], [], changes), [["data"], ["--persistent-workers", "--prefetch-factor", "4"]])


class KindsTest(unittest.TestCase):
    def test_lists_every_program(self):
        drivers = (HERE / "drivers").glob("*.py")
        files = {file.stem for file in drivers if "import training\n" in file.read_text(encoding="utf-8")}
        self.assertEqual({row["name"] for row in listed()["program"]}, files)

    def test_keeps_programs_short_and_documented(self):
        for row in listed()["program"]:
            with self.subTest(row["name"]):
                text = (HERE / "drivers" / f"{row['name']}.py").read_text(encoding="utf-8")
                self.assertTrue(ast.get_docstring(ast.parse(text)))
                self.assertLessEqual(len(text.splitlines()), 80)
