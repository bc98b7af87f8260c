// Manifests: RFC 4180, JSON lines, and what is wrong with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "loaderscope/errors.h"
#include "source/manifest.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Records = std::vector<std::vector<std::string>>;

Records read_records(const std::string& text) {
  std::istringstream stream(text);
  CsvReader reader(stream);
  Records records;
  for (std::vector<std::string> fields; reader.next(fields);) records.push_back(fields);
  return records;
}

std::unique_ptr<FileSource> open_list(const TempFolder& folder, std::string_view name,
                                      std::string_view text) {
  SourceOptions options = without_cache({});
  options.index_file = folder.write(name, text);
  return open_files(options);
}

std::string why_not(std::string_view name, std::string_view text) {
  const TempFolder folder;
  return error_message<RunError>([&] { open_list(folder, name, text); });
}

TEST(CsvReader, FollowsRfc4180) {
  EXPECT_EQ(read_records("a,b\r\n\"c,\"\"d\"\"\ne\",\n\n\"\"\n,x"),
            (Records{{"a", "b"}, {"c,\"d\"\ne", ""}, {""}, {"", "x"}}));
  EXPECT_EQ(read_records("\xEF\xBB\xBFpath\n"), (Records{{"path"}}));
  EXPECT_EQ(read_records(""), Records{});
  EXPECT_THROW(read_records("\"open"), ValueError);
  EXPECT_THROW(read_records("\"a\"b"), ValueError);
  EXPECT_THROW(read_records("\"" + std::string(100'000, 'x')), ValueError);
}

TEST(Manifest, KeepsOrderAndLabelsOfCsv) {
  const TempFolder folder;
  const auto files =
      open_list(folder, "list.csv",
                "path,label\nb/2.jpg,7\n\"a/x, \"\"y\"\".jpg\",3\r\nb/1.jpg,7\n/abs.jpg,3\n");
  EXPECT_THAT(sample_paths(*files, folder.path()),
              ElementsAre("b/2.jpg", "a/x, \"y\".jpg", "b/1.jpg", "/abs.jpg"));
  EXPECT_THAT(sample_labels(*files), ElementsAre(7, 3, 7, 3));
}

TEST(Manifest, AcceptsSeveralLabelsPerFolderAndNames) {
  const TempFolder folder;
  EXPECT_THAT(sample_labels(*open_list(folder, "a.csv", "label,path\n5,1.jpg\n0,2.jpg\n5,3.jpg\n")),
              ElementsAre(5, 0, 5));
  EXPECT_THAT(
      sample_labels(*open_list(folder, "b.csv", "path,label\n1.jpg,dog\n2.jpg,cat\n3.jpg,3\n")),
      ElementsAre(2, 1, 0));
  EXPECT_THAT(sample_labels(*open_list(folder, "c.csv", "path\n1.jpg\n2.jpg\n")),
              ElementsAre(0, 0));
}

TEST(Manifest, ReadsJsonLines) {
  const TempFolder folder;
  const auto files = open_list(folder, "list.jsonl",
                               "{\"path\": \"a/\\u00e9\\n.jpg\", \"label\": 4, \"other\": [1]}\n\n"
                               "{\"label\": \"1\", \"path\": \"b.jpg\"}\r\n{\"path\": \"c.jpg\"}");
  EXPECT_THAT(sample_paths(*files, folder.path()),
              ElementsAre("a/\xC3\xA9\n.jpg", "b.jpg", "c.jpg"));
  EXPECT_THAT(sample_labels(*files), ElementsAre(4, 1, 0));
}

TEST(Manifest, ResolvesNamesAgainstSinglePath) {
  const TempFolder lists, data;
  SourceOptions options = without_cache({data.path()});
  options.index_file = lists.write("list.csv", "path,label\na/1.jpg,0\n");
  EXPECT_EQ(open_files(options)->describe(0), data / "a/1.jpg");
  options.paths.push_back(lists.path());
  EXPECT_THROW(open_files(options), UsageError);
}

// Reading it at 0 is an I/O error, as of a disk that fails.
TEST(Manifest, ReportsListThatFailsToRead) {
  const TempFolder data;
  std::filesystem::create_symlink("/proc/self/mem", data / "list.csv");
  SourceOptions options = without_cache({});
  options.index_file = data / "list.csv";
  EXPECT_THAT(error_message<RunError>([&] { open_files(options); }),
              HasSubstr("check the storage"));
}

TEST(Manifest, ReportsMistakesWithTheirLine) {
  EXPECT_THAT(why_not("l.csv", ""), HasSubstr("the header is missing"));
  EXPECT_THAT(why_not("l.csv", "file,label\n"), HasSubstr("no column 'path'"));
  EXPECT_THAT(why_not("l.csv", "path,label\n"), HasSubstr("lists no files"));
  EXPECT_THAT(why_not("l.csv", "path,label\na.jpg,1\nb,c.jpg,1\n"),
              HasSubstr("l.csv:3: 3 fields where the header has 2"));
  EXPECT_THAT(why_not("l.csv", "path,label\n\n\"a\n\",1\n,1\n"),
              HasSubstr("l.csv:5: the path names no"));
  EXPECT_THAT(why_not("l.csv", "path,label\n\"a.jpg,1\n"), HasSubstr("l.csv:2: a quote is opened"));
  EXPECT_THAT(why_not("l.jsonl", "{\"path\": \"a\"}\n[1]\n"),
              HasSubstr("l.jsonl:2: expected an object"));
  EXPECT_THAT(why_not("l.jsonl", "{\"path\": 1}"), HasSubstr("'path' is missing or no text"));
  EXPECT_THAT(why_not("l.jsonl", "{\"path\": \"a\", \"label\": 1.5}"),
              HasSubstr("'label' is neither"));
  EXPECT_THAT(why_not("l.jsonl", "{\"path\": \"a\\u0000b\"}"), HasSubstr("zero byte"));
  EXPECT_THAT(why_not("l.txt", "x"), HasSubstr("ends in .csv or .jsonl"));
  EXPECT_THAT(why_not("l.csv", "path\n" + std::string(5000, 'x') + "\n"),
              HasSubstr("longer than 4096"));
}

TEST(Manifest, ReadsTwoHundredThousandRows) {
  std::string text = "path,label\n";
  for (int i = 0; i < 200'000; ++i) {
    text += "n0144" + std::to_string(i % 1000) + "/n0144_" + std::to_string(i) + ".JPEG," +
            std::to_string(i % 1000) + "\n";
  }
  const TempFolder folder;
  const auto files = open_list(folder, "list.csv", text);
  ASSERT_EQ(files->size(), 200'000);
  for (const std::int64_t i : {0, 15, 16, 77'777, 199'999}) {
    EXPECT_EQ(files->describe(i), folder / ("n0144" + std::to_string(i % 1000) + "/n0144_" +
                                            std::to_string(i) + ".JPEG"));
    EXPECT_EQ(files->label(i), i % 1000);
  }
}

}  // namespace
}  // namespace loaderscope::source
