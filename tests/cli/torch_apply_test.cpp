// loaderscope apply, on real programs with PyTorch: the record has the line and the class.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSlow = R"(import sys, time
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 480
    def __getitem__(self, index):
        time.sleep(0.003)
        return torch.full((64,), float(index))

)";

class TorchApply : public TorchTest {
 protected:
  // Runs Slow and `rest` as train.py, in the folder of the program and by its relative path.
  Ended run(const std::string& rest) {
    folder_.write("train.py", kSlow + rest);
    return run_shell("exec \"$0\" run -- \"$1\" train.py");
  }
  Ended run_shell(const std::string& script) {
    return run_program(
        "/bin/sh", {"-c", "cd \"$2\" && " + script, binary(), torch_python(), folder_.path("")});
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
};

TEST_F(TorchApply, ChangesCallOfMeasuredProgram) {
  const Ended ran =
      run("other = DataLoader(Slow(), batch_size=4)\n"
          "loader = DataLoader(\n    Slow(),\n    batch_size=8,  # few\n)\n"
          "for batch in loader:\n    time.sleep(0.002)\n");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  ASSERT_THAT(ran.out, HasSubstr("num_workers="));
  const Ended shown = run_shell("exec \"$0\" apply");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, testing::StartsWith("--- a/train.py\n+++ b/train.py\n"));
  EXPECT_THAT(shown.out, HasSubstr("     batch_size=8,  # few\n+    num_workers="));
  folder_.write("fix.diff", shown.out);
  const Ended written = run_shell("exec \"$0\" apply last --write --yes");
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.err, HasSubstr("loaderscope run --against last -- "));
  EXPECT_THAT(folder_.read("train.py"), HasSubstr("    batch_size=8,  # few\n    num_workers="));
  // The program still runs, and the diff that was printed is what was written.
  EXPECT_EQ(run_shell("exec \"$1\" train.py").exit_code, 0);
  EXPECT_EQ(run_shell("! command -v patch || patch -R -p1 < fix.diff").exit_code, 0);
}

TEST_F(TorchApply, KeepsLineOfArgumentsThatAreNoLiterals) {
  const Ended ran =
      run("workers = int('0')\nloader = DataLoader(Slow(), batch_size=8, num_workers=workers)\n"
          "for batch in loader:\n    time.sleep(0.002)\n");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Ended ended = run_shell("exec \"$0\" apply --write --yes");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("train.py:13: gives num_workers by an expression (workers)"));
  EXPECT_THAT(ended.err, HasSubstr(" in place of workers"));
}

TEST_F(TorchApply, ChangesConstantThatOnlyCallUses) {
  const Ended ran =
      run("WORKERS = 0  # a guess\n"
          "loader = DataLoader(Slow(), batch_size=8, num_workers=WORKERS)\n"
          "for batch in loader:\n    time.sleep(0.002)\n");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Ended ended = run_shell("exec \"$0\" apply --write --yes");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\n-WORKERS = 0  # a guess\n"));
  EXPECT_THAT(ended.out, HasSubstr("\n+WORKERS = "));
  EXPECT_THAT(folder_.read("train.py"), Not(HasSubstr("WORKERS = 0")));
  EXPECT_THAT(folder_.read("train.py"), HasSubstr("num_workers=WORKERS"));
}

TEST_F(TorchApply, RefusesClassOfProgram) {
  const Ended ran =
      run("class Mine(DataLoader):\n    pass\n"
          "for batch in Mine(Slow(), batch_size=8):\n    time.sleep(0.002)\n");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Ended ended = run_shell("exec \"$0\" apply");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("train.py:14: has no call of DataLoader"));
}

TEST_F(TorchApply, RefusesFileThatChangedDuringRun) {
  const Ended ran =
      run("loader = DataLoader(Slow(), batch_size=8)\n"
          "open(__file__, 'a').write('# more\\n')\n"
          "for batch in loader:\n    time.sleep(0.002)\n");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Ended ended = run_shell("exec \"$0\" apply");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("changed while the program ran"));
}

// Frameworks that this Python has; their loaders come from their own calls.
struct OwnCall {
  const char* module;
  const char* program;
  const char* added;
};

class TorchApplyFrameworks : public TorchApply, public testing::WithParamInterface<OwnCall> {
 protected:
  void SetUp() override {
    TorchApply::SetUp();
    if (!IsSkipped() && !torch_python_has(GetParam().module))
      GTEST_SKIP() << "no " << GetParam().module;
  }
};

TEST_P(TorchApplyFrameworks, ChangesCallOfFramework) {
  const Ended ran = run(GetParam().program);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Ended ended = run_shell("exec \"$0\" apply");
  EXPECT_EQ(ended.exit_code, 0) << ran.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(GetParam().added));
}

constexpr OwnCall kOwnCalls[] = {
    {"webdataset",
     "import webdataset\n"
     "loader = webdataset.WebLoader(Slow(), batch_size=8)\n"
     "for batch in loader:\n    time.sleep(0.002)\n",
     "+loader = webdataset.WebLoader(Slow(), batch_size=8, num_workers="},
    {"accelerate",
     "from accelerate import Accelerator\n"
     "loader = Accelerator(cpu=True).prepare(DataLoader(Slow(), batch_size=8))\n"
     "for batch in loader:\n    time.sleep(0.002)\n",
     "DataLoader(Slow(), batch_size=8, num_workers="},
    {"fastai",
     "from fastai.data.core import DataLoaders\n"
     "loaders = DataLoaders.from_dsets(Slow(), Slow(), bs=8, num_workers=0)\n"
     "for batch in loaders.train:\n    time.sleep(0.002)\n",
     "bs=8, num_workers="},
    {"fastai.data.load",
     "from fastai.data.load import DataLoader\n"
     "loader = DataLoader(Slow(), bs=8, num_workers=0)\n"
     "for batch in loader:\n    time.sleep(0.002)\n",
     "+loader = DataLoader(Slow(), bs=8, num_workers="},
    {"litdata",
     "import litdata\n"
     "from litdata.streaming.writer import BinaryWriter\n"
     "writer = BinaryWriter('data', chunk_size=64)\n"
     "for index in range(480): writer.add_item(index, {'x': index})\n"
     "writer.done(); writer.merge()\n"
     "class Items(litdata.StreamingDataset):\n"
     "    def __getitem__(self, index):\n"
     "        time.sleep(0.003)\n"
     "        return super().__getitem__(index)\n"
     "loader = litdata.StreamingDataLoader(Items('data'), batch_size=8, num_workers=0)\n"
     "for batch in loader:\n    time.sleep(0.002)\n",
     "+loader = litdata.StreamingDataLoader(Items('data'), batch_size=8, num_workers="},
    {"streaming",
     "from streaming import MDSWriter, StreamingDataLoader, StreamingDataset\n"
     "with MDSWriter(out='data', columns={'x': 'int'}) as out:\n"
     "    for index in range(480): out.write({'x': index})\n"
     "class Items(StreamingDataset):\n"
     "    def __getitem__(self, index):\n"
     "        time.sleep(0.003)\n"
     "        return super().__getitem__(index)\n"
     "loader = StreamingDataLoader(Items(local='data', batch_size=8), batch_size=8)\n"
     "for batch in loader:\n    time.sleep(0.015)\n",
     "+loader = StreamingDataLoader(Items(local='data', batch_size=8), batch_size=8, num_workers="},
    {"ultralytics",
     "import os\n"
     "os.environ['YOLO_CONFIG_DIR'] = os.getcwd()\n"
     "from PIL import Image\n"
     "from ultralytics import YOLO\n"
     "for index in range(240):\n"
     "    folder = f'data/{\"train\" if index < 200 else \"val\"}/{\"ab\"[index % 2]}'\n"
     "    os.makedirs(folder, exist_ok=True)\n"
     "    Image.new('RGB', (640, 480), (index, 0, 0)).save(f'{folder}/{index}.jpg')\n"
     "from ultralytics.data.dataset import ClassificationDataset\n"
     "read = ClassificationDataset.__getitem__\n"
     "def read_slowly(photos, index):\n"
     "    time.sleep(0.01)\n"
     "    return read(photos, index)\n"
     "ClassificationDataset.__getitem__ = read_slowly\n"
     "torch.set_num_threads(1)\n"
     "YOLO('yolov8n-cls.yaml').train(\n"
     "    data=os.getcwd() + '/data', epochs=3, imgsz=32, batch=8, device='cpu', plots=False,\n"
     "    workers=0, val=False)\n",
     "\n+    workers="},
    {"timm",
     "from timm.data import create_loader\n"
     "class Images(Dataset):\n"
     "    transform = None\n"
     "    def __len__(self): return 480\n"
     "    def __getitem__(self, index):\n"
     "        time.sleep(0.003)\n"
     "        import numpy\n"
     "        return numpy.zeros((3, 8, 8), 'uint8'), 1\n"
     "loader = create_loader(Images(), (3, 8, 8), batch_size=8, num_workers=0,\n"
     "                       use_prefetcher=False, persistent_workers=False)\n"
     "loader.dataset.transform = None\n"
     "for batch in loader:\n    time.sleep(0.002)\n",
     "num_workers="},
    {"transformers",
     "from transformers import Trainer, TrainingArguments\n"
     "class Dicts(Slow):\n"
     "    def __getitem__(self, index):\n"
     "        return {'x': super().__getitem__(index)}\n"
     "class Net(torch.nn.Module):\n"
     "    def __init__(self):\n"
     "        super().__init__()\n"
     "        self.net = torch.nn.Linear(64, 1)\n"
     "    def forward(self, x):\n"
     "        return {'loss': self.net(x).mean()}\n"
     "options = TrainingArguments('out', report_to=[], remove_unused_columns=False,\n"
     "                            save_strategy='no', num_train_epochs=1, use_cpu=True)\n"
     "Trainer(Net(), options, train_dataset=Dicts()).train()\n",
     "dataloader_num_workers="},
    {"lightning",
     "import lightning\n"
     "class Net(lightning.LightningModule):\n"
     "    def __init__(self):\n"
     "        super().__init__()\n"
     "        self.net = torch.nn.Linear(64, 1)\n"
     "    def training_step(self, x, index):\n"
     "        return self.net(x).mean()\n"
     "    def configure_optimizers(self):\n"
     "        return torch.optim.SGD(self.parameters(), 0.1)\n"
     "    def train_dataloader(self):\n"
     "        return DataLoader(Slow(), batch_size=8)\n"
     "lightning.Trainer(max_epochs=1, accelerator='cpu', logger=False,\n"
     "                  enable_checkpointing=False).fit(Net())\n",
     "+        return DataLoader(Slow(), batch_size=8, num_workers="},
};

INSTANTIATE_TEST_SUITE_P(All, TorchApplyFrameworks, testing::ValuesIn(kOwnCalls),
                         [](const auto& one) {
                           std::string name = one.param.module;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace loaderscope::testing_cli
