#include "experiment/prediction_history.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

using source::TempFolder;

TEST(PredictionHistory, StartsEmpty) {
  const TempFolder folder;
  EXPECT_EQ(PredictionHistory(folder / "none").summary().count, 0);
  EXPECT_EQ(PredictionHistory("").summary().sentence(), "");
  PredictionHistory("").add(1, 1);
}

TEST(PredictionHistory, SumsUpTheLastTwenty) {
  const TempFolder folder;
  const PredictionHistory history(folder / "new/cache");
  for (int i = 0; i < 5; ++i) history.add(200, 100);  // forgotten
  for (int i = 0; i < 19; ++i) history.add(103, 100);
  history.add(91, 100);
  const PastPredictions summary = history.summary();
  EXPECT_EQ(summary.count, 20);
  EXPECT_NEAR(summary.median, 0.03, 1e-9);
  EXPECT_NEAR(summary.worst, 0.09, 1e-9);
  EXPECT_EQ(summary.sentence(),
            "the last 20 predictions that were run were off by 3.0 % (median), 9.0 % at worst");
}

TEST(PredictionHistory, LeavesOutWhatItCannotRead) {
  const TempFolder folder;
  using namespace std::string_literals;
  folder.write("predictions", "\0\xff 3\nnan 1\n1 0\n1e999 1\n-1 1\n1 2 3\n110 100\n5"s);
  const PredictionHistory history(folder.path());
  EXPECT_EQ(history.summary().count, 1);
  history.add(0, 100);  // no prediction
  EXPECT_EQ(history.summary().count, 1);
}

TEST(PredictionHistory, StaysSmallAndForgetsTheOldest) {
  const TempFolder folder;
  std::string old;
  while (old.size() < 100'000) old += "300 100\n";
  folder.write("predictions", old);
  const PredictionHistory history(folder.path());
  for (int i = 0; i < 20; ++i) history.add(101, 100);
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "predictions").c_str(), &facts), 0);
  EXPECT_LT(facts.st_size, 20'000);
  EXPECT_NEAR(history.summary().worst, 0.01, 1e-9);
}

TEST(PredictionHistory, KeepsEntriesOfConcurrentWriters) {
  const TempFolder folder;
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < 5; ++i) PredictionHistory(folder.path()).add(102, 100);
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(PredictionHistory(folder.path()).summary().count, 20);
}

TEST(PredictionHistory, FollowsNoLink) {
  const TempFolder folder;
  const std::string other = folder.write("other", "110 100\n");
  std::filesystem::create_symlink(other, folder / "predictions");
  const PredictionHistory history(folder.path());
  history.add(1, 1);
  EXPECT_EQ(history.summary().count, 0);
  EXPECT_EQ(std::filesystem::file_size(other), 8U);
}

}  // namespace
}  // namespace loaderscope
