// The script of a command line.
#include "base/python_script.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace loaderscope {
namespace {

std::string find_script(const std::vector<std::string>& words) {
  const auto script = find_python_script(words);
  return script == words.end() ? "" : *script;
}

TEST(PythonScript, FindsFirstOfCommand) {
  EXPECT_EQ(find_script({"python", "-u", "code/train.py", "--model", "net.py"}), "code/train.py");
  EXPECT_EQ(find_script({"torchrun", "--nproc-per-node", "2", "train.py"}), "train.py");
  EXPECT_EQ(find_script({"./train.py"}), "./train.py");
}

TEST(PythonScript, SkipsFlagsAndOtherFiles) {
  EXPECT_EQ(find_script({"launch", "--config=conf.py", "train.py"}), "train.py");
  EXPECT_EQ(find_script({"python", "-m", "train", "train.pyc", "train.py.bak"}), "");
  EXPECT_EQ(find_script({}), "");
}

}  // namespace
}  // namespace loaderscope
