// Rows of a terminal on which a measured program prints too.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Nearly always a line of it is not complete, and now and then a bar is drawn again.
constexpr const char* kProgram = R"(
import sys, time, torch
class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 1 << 20
    def __getitem__(self, i): return i
end, said = time.time() + 13, 0
for number, batch in enumerate(torch.utils.data.DataLoader(Numbers(), batch_size=4)):
    time.sleep(0.02)
    if number % 25 == 0: print(f'part {said} begins ... ', end='', flush=True)
    if number % 25 == 23: print(f'and ends {said}.', flush=True); said += 1
    if time.time() > end: break
print('', said, 'parts')
)";

std::string without_blanks(std::string text) {
  std::erase_if(text, [](unsigned char letter) { return std::isspace(letter) != 0; });
  return text;
}

struct Shown {
  std::string ours, others;  // rows
};

class TorchTerminal : public TorchTest {
 protected:
  Shown shown(const Words& flags) const {
    Words words = {LOADERSCOPE_SOURCE_DIR "/tests/tools/on_terminal.py", "400", binary(), "run"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", torch_python(), folder_.write("train.py", kProgram)});
    const Ended ended = run_program(torch_python(), words);
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    Shown shown;
    std::istringstream rows(ended.out);
    for (std::string row; std::getline(rows, row);)
      (row.starts_with("loaderscope: ") ? shown.ours : shown.others) += row + "\n";
    return shown;
  }
  // Every part of what the program prints, in its order.
  static std::string all_parts(const Shown& shown) {
    std::string all;
    int parts = 0;
    for (; shown.others.find(" " + std::to_string(parts) + ".") != std::string::npos; ++parts)
      all += "part" + std::to_string(parts) + "begins...andends" + std::to_string(parts) + ".";
    return all;
  }

  TestFolder folder_;
};

TEST_F(TorchTerminal, PreservesOutputOfProgram) {
  const Shown rows = shown({});
  EXPECT_THAT(rows.ours, HasSubstr(" steps/s"));
  EXPECT_THAT(rows.ours, HasSubstr(" samples/s, a batch was ready "));
  const std::string parts = all_parts(rows);
  EXPECT_GT(parts.size(), 200U) << rows.others;
  EXPECT_THAT(without_blanks(rows.others), HasSubstr(parts));
}

TEST_F(TorchTerminal, PrintsNothingWithoutProgress) {
  const Shown rows = shown({"--no-progress"});
  EXPECT_THAT(rows.ours, Not(HasSubstr("steps")));
  EXPECT_THAT(without_blanks(rows.others), HasSubstr(all_parts(rows)));
}

}  // namespace
}  // namespace loaderscope::testing_cli
