// Folders of images: what counts, in which order, under which label.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "loaderscope/errors.h"
#include "source/parallel.h"
#include "source/registry.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string why_not(const SourceOptions& options) {
  return error_message<RunError>([&] { open_files(options); });
}

TEST(Folders, NumbersClassesInOrderOfNames) {
  const TempFolder data;
  for (const char* name : {"b/2.jpg", "b/1.jpg", "a/9.JPEG", "a/deep/er/0.png", "a-b/1.webp",
                           "c/1.raw", "c/2.lsraw"}) {
    data.write(name);
  }
  const auto files = open_files(without_cache({data.path()}));
  EXPECT_THAT(sample_paths(*files, data.path()),
              ElementsAre("a/9.JPEG", "a/deep/er/0.png", "a-b/1.webp", "b/1.jpg", "b/2.jpg",
                          "c/1.raw", "c/2.lsraw"));
  EXPECT_THAT(sample_labels(*files), ElementsAre(0, 0, 1, 2, 2, 3, 3));
}

TEST(Folders, NumbersClassesWithoutImagesToo) {
  const TempFolder data;
  data.write("b/1.jpg");
  fs::create_directories(data / "a");
  EXPECT_THAT(sample_labels(*open_files(without_cache({data.path()}))), ElementsAre(1));
}

TEST(Fingerprint, DependsOnlyOnNamesAndSizes) {
  const TempFolder one, other;
  for (const TempFolder* data : {&one, &other}) {
    data->write("a/1.jpg", "12345");
    data->write("b/2.jpg");
  }
  const auto fingerprint = [](const TempFolder& data) {
    return source_fingerprint(*open_files(without_cache({data.path()})));
  };
  EXPECT_EQ(fingerprint(one), fingerprint(other));
  EXPECT_LT(fingerprint(one), std::int64_t{1} << 40);
  other.write("b/2.jpg", "xy");
  EXPECT_NE(fingerprint(one), fingerprint(other));
  const std::int64_t before = fingerprint(other);
  other.write("b/3.jpg");
  EXPECT_NE(fingerprint(other), before);
}

TEST(Folders, GivesFlatFolderOneLabel) {
  const TempFolder data;
  data.write("2.jpg");
  data.write("10.jpg");
  fs::create_directories(data / "empty");
  const auto files = open_files(without_cache({data.path() + "/"}));
  EXPECT_THAT(sample_paths(*files, data.path()), ElementsAre("10.jpg", "2.jpg"));
  EXPECT_THAT(sample_labels(*files), ElementsAre(0, 0));
}

TEST(Folders, CountsOnlyVisibleImages) {
  const TempFolder data;
  for (const char* name : {".loaderscope-dataset.json", ".x.jpg", ".git/a.jpg", "notes.txt", "jpg",
                           "archive.tar", "one.jpg"}) {
    data.write(name);
  }
  EXPECT_THAT(sample_paths(*open_files(without_cache({data.path()})), data.path()),
              ElementsAre("one.jpg"));
}

TEST(Folders, ReportsImagesOutsideClassFolders) {
  const TempFolder data;
  data.write("stray.jpg");
  data.write("a/1.jpg");
  const auto files = open_files(without_cache({data.path()}));
  EXPECT_EQ(files->size(), 1);
  EXPECT_THAT(files->notes(), ElementsAre(HasSubstr("1 images outside the class folders")));
}

TEST(Folders, AcceptsAnyBytesInNames) {
  const TempFolder data;
  const std::vector<std::string> names = {"a b/c d.jpg", "a b/\xC3\xA9\xE2\x82\xAC.jpg",
                                          "a b/line\nbreak,\"quoted\".jpg", "a b/\xff\xfe.jpg"};
  for (const std::string& name : names) data.write(name, name);
  const auto files = open_files(without_cache({data.path()}));
  EXPECT_THAT(sample_paths(*files, data.path()), testing::UnorderedElementsAreArray(names));
  const auto reader = files->make_reader();
  for (std::int64_t i = 0; i < files->size(); ++i) {
    const auto bytes = reader->read(i);
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_EQ(data / text, files->describe(i));
  }
}

TEST(Folders, JoinsSeveralPathsInOrder) {
  const TempFolder one, two;
  one.write("a/1.jpg");
  one.write("b/2.jpg");
  two.write("z/3.jpg");
  const auto files = open_files(without_cache({two.path(), one.path()}));
  EXPECT_EQ(files->describe(0), two / "z/3.jpg");
  EXPECT_EQ(files->describe(2), one / "b/2.jpg");
  EXPECT_THAT(sample_labels(*files), ElementsAre(0, 0, 1));
}

TEST(Folders, FollowsLinksWithoutCircles) {
  const TempFolder data, other;
  data.write("a/1.jpg");
  other.write("x/2.jpg");
  fs::create_directory_symlink(other / "x", data / "b");
  fs::create_directory_symlink(data.path(), data / "a/up");
  fs::create_directory_symlink("..", data / "b/back");
  fs::create_symlink("nowhere", data / "a/gone.jpg");
  fs::create_symlink("self", data / "a/self");
  EXPECT_THAT(sample_paths(*open_files(without_cache({data.path()})), data.path()),
              ElementsAre("a/1.jpg", "a/gone.jpg", "b/2.jpg"));
}

TEST(Folders, RejectsMazeOfLinks) {
  const TempFolder data;
  for (int from = 0; from < 14; ++from) {
    const std::string folder = std::to_string(from);
    data.write(folder + "/1.jpg");
    for (int to = 0; to < 14; ++to) {
      fs::create_directory_symlink("../" + std::to_string(to),
                                   data / (folder + "/to" + std::to_string(to)));
    }
  }
  EXPECT_THAT(why_not(without_cache({data.path()})), HasSubstr("links between folders"));
}

TEST(Folders, ReportsFoldersThatCannotBeOpened) {
  const TempFolder data;
  const std::string file = data.write("sub/notes.txt");
  EXPECT_THAT(why_not(without_cache({data / "gone"})), HasSubstr("No such file or directory"));
  EXPECT_THAT(why_not(without_cache({""})), HasSubstr("--data"));
  EXPECT_THAT(why_not(without_cache({file})), HasSubstr("is a file, not a folder"));
  EXPECT_THAT(why_not(without_cache({data.path()})), HasSubstr("holds no images"));
  EXPECT_THAT(why_not(without_cache({data.path()})), HasSubstr("give the folder that holds them"));
  data.write("train-0.tar");
  EXPECT_THAT(why_not(without_cache({data.path()})),
              HasSubstr("but .tar files; give --data tar:" + data.path()));
  EXPECT_THROW(open_files(without_cache({})), UsageError);
}

TEST(Folders, FailsForUnreadableFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TempFolder data;
  data.write("a/1.jpg");
  fs::permissions(data / "a", fs::perms::none);
  EXPECT_THAT(why_not(without_cache({data.path()})), HasSubstr("cannot be listed"));
  fs::permissions(data / "a", fs::perms::all);
}

TEST(Folders, StopsOnSignal) {
  const TempFolder data;
  data.write("a/1.jpg");
  const std::atomic<int> stop{2};
  EXPECT_THROW(open_files(without_cache({data.path()}), {nullptr, &stop}), RunError);
}

TEST(Parallel, VisitsEachIndexOnceAndThrowsFirstFailure) {
  std::vector<std::atomic<int>> seen(1000);
  for_each_index(1000, "", {}, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
  for (const auto& times : seen) EXPECT_EQ(times, 1);
  EXPECT_THROW(for_each_index(1000, "", {}, [](std::int64_t) { throw RunError("x"); }), RunError);
  for_each_index(0, "", {}, [](std::int64_t) { FAIL(); });
}

}  // namespace
}  // namespace loaderscope::source
