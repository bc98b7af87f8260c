"""The editor of `loaderscope apply` on many forms of source."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *("..", "..", "src", "cli", "apply")))
import edit_call

IMPORT = "from torch.utils.data import DataLoader\n"
POSITIONS = ["dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory"]
MADE = "torch.utils.data.dataloader.DataLoader"


def request(line, **others):
    wanted = {"name": "train.py", "line": line, "names": ["DataLoader"], "packages": ["torch"], "called": "",
              "called_modules": [], "called_classes": [], "made": MADE, "only": False, "or_only": False, "positions": POSITIONS,
              "safe_positions": 2, "arguments": [["num_workers", "2"]]}
    wanted.update(others)
    return wanted


class EditCase(unittest.TestCase):
    def answer(self, text, line=2, **others):
        content = text if isinstance(text, bytes) else text.encode()
        return edit_call.answer(request(line, **others), content)

    def expect(self, before, after, line=2, **others):
        """Expects the edit, and that a second one finds nothing to do."""
        said, edited, diff = self.answer(IMPORT + before, line, **others)
        self.assertIsNotNone(edited, said)
        self.assertEqual(edited.decode(), IMPORT + after)
        self.assertTrue(diff.startswith(b"--- a/train.py\n+++ b/train.py\n@@"))
        again, edited, diff = self.answer(IMPORT + after, line, **others)
        self.assertTrue(again["unchanged"], again)
        self.assertIsNone(edited)
        self.assertIsNone(diff)

    def refuse(self, text, reason, line=2, **others):
        said, edited, diff = self.answer(text, line, **others)
        self.assertIsNone(edited, edited)
        self.assertIsNone(diff)
        self.assertIn(reason, said["reason"])
        return said


class Editing(EditCase):
    def test_replaces_keyword(self):
        self.expect("x = DataLoader(ds, num_workers=0, batch_size=8)\n",
                    "x = DataLoader(ds, num_workers=2, batch_size=8)\n")

    def test_keeps_spaces_and_comments(self):
        self.expect("x = DataLoader( ds , num_workers = 0 ) # few\n", "x = DataLoader( ds , num_workers = 2 ) # few\n")

    def test_adds_keyword(self):
        self.expect("x = DataLoader(ds)\n", "x = DataLoader(ds, num_workers=2)\n")
        self.expect("x = DataLoader(ds, 8,)\n", "x = DataLoader(ds, 8, num_workers=2,)\n")
        self.expect("x = DataLoader((ds), batch_size=(8))", "x = DataLoader((ds), batch_size=(8), num_workers=2)")

    def test_adds_to_empty_call(self):
        self.expect("x = DataLoader( )\n", "x = DataLoader(num_workers=2 )\n")

    def test_replaces_argument_by_position(self):
        self.expect("x = DataLoader(ds, 8, True, None, None, 0, pad)\n",
                    "x = DataLoader(ds, 8, True, None, None, 2, pad)\n")

    def test_adds_line_to_call_of_many_lines(self):
        self.expect("x = DataLoader(\n    ds,\n    batch_size=8,  # few\n)\n",
                    "x = DataLoader(\n    ds,\n    batch_size=8,  # few\n    num_workers=2,\n)\n")
        self.expect("x = DataLoader(\n    ds,\n    batch_size=8  # few, so far\n    # more\n)\n",
                    "x = DataLoader(\n    ds,\n    batch_size=8,  # few, so far\n    num_workers=2\n    # more\n)\n")
        self.expect("x = DataLoader(ds,\n               batch_size=8)\n",
                    "x = DataLoader(ds,\n               batch_size=8, num_workers=2)\n")
        self.expect("x = DataLoader(\n    ds, batch_size=8,\n)\n",
                    "x = DataLoader(\n    ds, batch_size=8, num_workers=2,\n)\n")
        self.expect("x = DataLoader(\n    ds \\\n)\n", "x = DataLoader(\n    ds, num_workers=2 \\\n)\n")

    def test_adds_several_keywords(self):
        both = [["num_workers", "2"], ["persistent_workers", "True"]]
        self.expect("x = DataLoader(ds, num_workers=0)\n",
                    "x = DataLoader(ds, num_workers=2, persistent_workers=True)\n",
                    arguments=both)
        self.expect("x = DataLoader(\n\tds\n)\n",
                    "x = DataLoader(\n\tds,\n\tnum_workers=2,\n\tpersistent_workers=True\n)\n",
                    arguments=both)

    def test_keeps_tabs_and_wide_letters(self):
        self.expect("if 1:\n\tx = 'ä€😀', DataLoader(ds, num_workers=0)\n",
                    "if 1:\n\tx = 'ä€😀', DataLoader(ds, num_workers=2)\n", line=3)

    def test_keeps_line_ends_of_windows(self):
        content = (IMPORT + "x = DataLoader(\n    ds,\n)\n").replace("\n", "\r\n").encode()
        _, edited, diff = self.answer(content)
        self.assertEqual(edited, content.replace(b"ds,\r\n", b"ds,\r\n    num_workers=2,\r\n"))
        self.assertIn(b"+    num_workers=2,\r\n", diff)

    def test_keeps_byte_order_mark(self):
        content = b"\xef\xbb\xbf" + (IMPORT + "x = DataLoader(ds)\n").encode()
        _, edited, diff = self.answer(content)
        self.assertEqual(edited, content.replace(b"(ds)", b"(ds, num_workers=2)"))
        self.assertIn(b"\n \xef\xbb\xbffrom torch", diff)
        self.assertTrue(diff.startswith(b"--- "))

    def test_keeps_other_encodings(self):
        text = "# -*- coding: latin-1 -*-\n" + IMPORT + "x = 'é', DataLoader(ds)  # à\n"
        _, edited, diff = self.answer(text.encode("latin-1"), line=3)
        self.assertEqual(edited, text.replace("(ds)", "(ds, num_workers=2)").encode("latin-1"))
        self.assertIn("# à".encode("latin-1"), diff)

    def test_changes_nested_call(self):
        self.expect("x = wrap(iter(DataLoader(make(1, (2, 3)), 8)))\n",
                    "x = wrap(iter(DataLoader(make(1, (2, 3)), 8, num_workers=2)))\n")
        self.expect("x = DataLoader(\n    Wrap(DataLoader(ds)),\n    8\n)\n",
                    "x = DataLoader(\n    Wrap(DataLoader(ds)),\n    8,\n    num_workers=2\n)\n")

    def test_changes_call_in_other_forms(self):
        for form in ("if (x := {}): pass\n", "x = f'{{{}}}'\n", "x = [{} for ds in all]\n", "x = lambda: {}\n",
                     "def f(ds, loader={}): pass\n", "async def f(): return {}\n", "x = {} if ds else None\n"):
            if form.startswith("x = f'") and sys.version_info < (3, 12):
                continue  # positions inside of such texts are known since 3.12
            with self.subTest(form):
                self.expect(form.format("DataLoader(ds)"), form.format("DataLoader(ds, num_workers=2)"))

    def test_changes_call_below_decorator(self):
        self.expect("@cached\ndef f(ds):\n    return DataLoader(ds)\n",
                    "@cached\ndef f(ds):\n    return DataLoader(ds, num_workers=2)\n", line=4)
        self.expect("@use(DataLoader(ds))\ndef f(): pass\n", "@use(DataLoader(ds, num_workers=2))\ndef f(): pass\n")

    def test_marks_missing_end_of_line(self):
        _, _, diff = self.answer(IMPORT + "x = DataLoader(ds)")
        self.assertEqual(diff.count(b"\n\\ No newline at end of file\n"), 2)

    def test_finds_call_by_first_line_or_line_of_method(self):
        text = "import torch\nx = (torch.utils.data\n     .DataLoader(ds))\n"
        for line in (2, 3):
            _, edited, _ = self.answer(text, line)
            self.assertEqual(edited.decode(), text.replace("(ds)", "(ds, num_workers=2)"))


class Proof(EditCase):
    def test_follows_imports(self):
        for text in ("import torch\nx = torch.utils.data.DataLoader(ds)\n",
                     "import torch.utils.data as D\nx = D.DataLoader(ds)\n",
                     "from torch.utils import data\nx = data.DataLoader(ds)\n",
                     "from torch.utils.data import *\nx = DataLoader(ds)\n",
                     "from torch.utils.data import DataLoader as L\nx = L(ds)\n"):
            with self.subTest(text):
                _, edited, _ = self.answer(text)
                self.assertEqual(edited.decode(), text.replace("(ds)", "(ds, num_workers=2)"))

    def test_refuses_names_that_may_be_others(self):
        not_sure = "not surely the one"
        for text in ("from mine import DataLoader\nx = DataLoader(ds)\n",
                     "from .data import DataLoader\nx = DataLoader(ds)\n",
                     IMPORT + "x = DataLoader(ds); DataLoader = Mine\n",
                     IMPORT + "x = DataLoader(ds)\nclass DataLoader: pass\n",
                     IMPORT + "x = lambda DataLoader: DataLoader(ds)\n",
                     "import torch\nx = torch.utils.data.DataLoader(ds)\ntorch.utils.data.DataLoader = Mine\n",
                     "from a import *\nx = DataLoader(ds)\n", "x = 1\ny = DataLoader(ds)\n",
                     IMPORT + "x = DataLoader(ds)\ntry: pass\nexcept E as DataLoader: pass\n",
                     "from torch.utils.data import *\nx = DataLoader(ds)\nfrom mine import *\n"):
            with self.subTest(text):
                self.refuse(text, not_sure)
        self.refuse(IMPORT + "x = DataLoader(ds)\n", not_sure, made="mine.DataLoader")

    def test_refuses_other_lines(self):
        self.refuse(IMPORT + "x = partial(DataLoader)(ds)\n", "no call of DataLoader")
        self.refuse(IMPORT + "x = 1\ny = DataLoader(ds)\n", "no call of DataLoader")

    def test_refuses_two_calls_on_a_line(self):
        self.refuse(IMPORT + "a, b = DataLoader(x), DataLoader(y)\n", "has 2 calls")

    def test_refuses_arguments_that_are_not_seen(self):
        self.refuse(IMPORT + "x = DataLoader(ds, **options)\n", "by **")
        self.refuse(IMPORT + "x = DataLoader(*options)\n", "by *")
        self.refuse(IMPORT + "x = DataLoader(a for a in b)\n", "more than this call")
        self.refuse(IMPORT + "x = DataLoader(ds, 1, 2)\n", "by position", positions=[])
        self.refuse(IMPORT + "x = DataLoader(ds, num_workers=4, prefetch_factor=2)\n", "needs workers",
                    arguments=[["num_workers", "0"]])

    def test_names_value_that_is_an_expression(self):
        said = self.refuse(IMPORT + "x = 'ä', DataLoader(ds, num_workers=args.workers)\n",
                           "by an expression (args.workers)")
        self.assertEqual(said["by_hand"], [{"argument": "num_workers", "now": "args.workers", "then": "2", "line": 2,
                                            "column": 37, "end_line": 2, "end_column": 49}])
        self.refuse(IMPORT + "x = DataLoader(ds, num_workers=[0])\n", "by an expression")
        self.refuse(IMPORT + "def f(workers):\n    return DataLoader(ds, num_workers=workers)\n",
                    "by an expression (workers)", 3)

    def test_names_what_else_changes_by_hand(self):
        said = self.refuse(IMPORT + "x = DataLoader(ds, num_workers=n, drop_last=True, shuffle=False)\n", "an expression",
                           arguments=[["num_workers", "2"], ["persistent_workers", "True"], ["shuffle", "True"],
                                      ["drop_last", "True"]])
        self.assertEqual(said["others"], ["persistent_workers=True", "shuffle=True"])

    def test_refuses_files_that_it_cannot_keep(self):
        self.refuse(IMPORT + "x = DataLoader(ds\n", "cannot be parsed")
        self.refuse(IMPORT + "x = DataLoader(ds)\0\n", "cannot be parsed")
        self.refuse(b"# coding: nothing\n", "cannot be parsed")
        self.refuse(b"x = '\xff'\n", "cannot be parsed")
        self.refuse((IMPORT + "x = DataLoader(ds)\n").replace("\n", "\r"), "old systems")
        self.refuse("", "no call")
        self.refuse("x = " + "(" * 500 + ")" * 500, "cannot be parsed")


class Constants(EditCase):
    CALL = "x = DataLoader(ds, num_workers=N)\n"

    def test_changes_literal_of_constant(self):
        self.expect("N = 0  # a guess\n" + self.CALL, "N = 2  # a guess\n" + self.CALL, 3)
        self.expect("N: int = 1_0; M = 3\n" + self.CALL, "N: int = 2; M = 3\n" + self.CALL, 3)
        function = "def f():\n    return DataLoader(ds, num_workers=N)\n"
        self.expect(function + "N = 0\n", function + "N = 2\n", 3)
        self.expect("N = 0\nx = DataLoader(ds, 8, False, None, None, N)\n",
                    "N = 2\nx = DataLoader(ds, 8, False, None, None, N)\n", 3)
        self.expect("options = vars(args)\nmodel.eval()\nN = 0\n" + self.CALL,
                    "options = vars(args)\nmodel.eval()\nN = 2\n" + self.CALL, 5)

    def test_reports_line_of_constant(self):
        said, _, diff = self.answer(IMPORT + "N = 0\n" + "\n" * 9 + self.CALL, 12)
        self.assertEqual(said, {"line": 2})
        self.assertIn(b"\n-N = 0\n+N = 2\n", diff)

    def test_changes_constant_and_call(self):
        both = [["num_workers", "2"], ["persistent_workers", "True"]]
        self.expect("N = 0\n" + self.CALL, "N = 2\nx = DataLoader(ds, num_workers=N, persistent_workers=True)\n", 3,
                    arguments=both)

    def test_refuses_constants_that_others_may_use(self):
        for others, reason in (
                ("print(N)\n", "N is used 2 times"), ("y = f'{N}'\n", "N is used 2 times"),
                ("__all__ = ['N']\n", "N is also given by a text"), ("setattr(me, 'N', 1)\n", "by a text"),
                ("N += 1\n", "another meaning or value"), ("for N in all: pass\n", "another meaning or value"),
                ("del N\n", "another meaning or value"), ("def f():\n    global N\n", "another meaning or value"),
                ("def f(N): pass\n", "another meaning or value"), ("from mine import N\n", "another meaning or value"),
                ("me.N = 1\n", "another meaning or value"), ("if (N := 3): pass\n", "another meaning or value"),
                ("try: pass\nexcept E as N: pass\n", "another meaning or value"),
                ("globals().update(a=1)\n", "may change N"), ("exec(open('options.py').read())\n", "may change N"),
                ("vars()['a'] = 1\n", "may change N"), ("from mine import *\n", "")):
            with self.subTest(others):
                said = self.refuse(IMPORT + "N = 0\n" + self.CALL + others, reason, 3)
                if reason:
                    self.assertIn("by an expression (N); ", said["reason"])
                    self.assertEqual(said["by_hand"][0]["now"], "N")

    def test_refuses_constants_that_are_no_literal_of_module(self):
        for text, line, reason in (("N = count()\n", 3, "N is no literal integer"), ("N = True\n", 3, "no literal"),
                                   ("N = -1\n", 3, "no literal"), ("N, M = 0, 1\n", 3, "(N)"), ("N = M = 0\n", 3, "(N)"),
                                   ("if 1: N = 0\n", 3, "(N)"), ("from mine import N\n", 3, "(N)"), ("", 2, "(N)")):
            with self.subTest(text):
                self.refuse(IMPORT + text + self.CALL, reason, line)

    def test_accepts_import_of_all_names_before_constant(self):
        before = "import torch.utils.data as D\nfrom mine import *\n"
        call = "x = D.DataLoader(ds, num_workers=N)\n"
        _, edited, _ = self.answer(before + "N = 0\n" + call, 4)
        self.assertEqual(edited.decode(), before + "N = 2\n" + call)
        self.refuse("import torch.utils.data as D\nN = 0\nfrom mine import *\n" + call, "may change N", 4)


class Frameworks(EditCase):
    def test_finds_only_call_of_file(self):
        only = {"names": ["TrainingArguments"], "packages": ["transformers"], "only": True, "made": "", "positions": [],
                "safe_positions": 1, "arguments": [["dataloader_num_workers", "2"]]}
        text = "from transformers import Trainer, TrainingArguments\na = TrainingArguments('out')\nTrainer(a).train()\n"
        _, edited, _ = self.answer(text, 3, **only)
        self.assertEqual(edited.decode(), text.replace("'out'", "'out', dataloader_num_workers=2"))
        self.refuse(text + "TrainingArguments('b')\n", "has 2 calls of TrainingArguments", 3, **only)
        self.refuse(text.replace("a = TrainingArguments('out')", ""), "has no call of TrainingArguments", 3, **only)
        self.refuse(text.replace("from transformers", "from mine"), "not surely imported", 3, **only)

    def test_prefers_line_to_only_call(self):
        text = IMPORT + "a = DataLoader(x)\nb = DataLoader(y)\nfit(a, b)\n"
        _, edited, _ = self.answer(text, 2, or_only=True)
        self.assertIn(b"DataLoader(x, num_workers=2)", edited)
        self.refuse(text, "has 2 calls", 4, or_only=True)
        _, edited, _ = self.answer(text.replace("DataLoader(y)", "y"), 4, or_only=True)
        self.assertIn(b"DataLoader(x, num_workers=2)", edited)

    def test_accepts_function_that_the_run_saw(self):
        called = {"names": ["dataloaders"], "packages": ["fastai"], "called_modules": ["fastai.data"], "made": "",
                  "positions": [], "safe_positions": 3}
        text = "from fastai.vision.all import *\nd = block.dataloaders(path, bs=8)\n"
        _, edited, _ = self.answer(text, called="fastai.data.block.dataloaders", **called)
        self.assertIn(b"bs=8, num_workers=2)", edited)
        self.refuse(text, "not surely", called="mine.block.dataloaders", **called)
        self.refuse("from fastai.vision.all import *\nlearn.fit(1, 2)\n", "no call of dataloaders",
                    called="fastai.learner.fit", **called)
        text = text.replace("d = block", "block = Block()\nd = block")
        self.refuse(text, "not surely", 3, called="fastai.data.block.other", **called)

    def test_accepts_class_that_the_run_saw(self):
        called = {"names": ["dataloaders"], "packages": ["fastai"], "called_modules": ["fastai.data"],
                  "called_classes": ["DataLoader"], "made": "", "positions": [], "safe_positions": 3,
                  "called": "fastai.data.load.DataLoader.__init__"}
        text = "from fastai.data.load import DataLoader\nd = DataLoader(ds, bs=8)\n"
        _, edited, _ = self.answer(text, **called)
        self.assertIn(b"(ds, bs=8, num_workers=2)", edited)
        self.refuse(text.replace("bs=8", "8, 0"), "by position", **called)
        self.refuse(text, "no call of dataloaders", **{**called, "called_classes": []})
        self.refuse(text, "no call of dataloaders", **{**called, "called": "mine.DataLoader.__init__"})
        self.refuse(text.replace("d = DataLoader", "d = Mine"), "no call of dataloaders", **called)


if __name__ == "__main__":
    unittest.main()
