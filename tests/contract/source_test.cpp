// What every source promises, whatever it reads from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <thread>

#include "source/registry.h"
#include "unit/source/access_names.h"
#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kSamples = 50;

std::string bytes_of_sample(std::int64_t sample) {
  return std::string(static_cast<std::size_t>(1 + (sample * 7919) % 20'000),
                     static_cast<char>('a' + sample % 26));
}

// Of a data set of samples 0 .. kSamples - 1, in this order.
struct WayToOpen {
  std::string name;
  std::function<std::unique_ptr<Source>(const source::TempFolder&)> open;
};

std::unique_ptr<Source> open_folder(const source::TempFolder& data, FileAccess access) {
  for (std::int64_t i = 0; i < kSamples; ++i) {
    data.write("c" + std::to_string(i / 10) + "/" + std::to_string(i) + ".jpg", bytes_of_sample(i));
  }
  SourceOptions options = source::without_cache({data.path()});
  options.access = access;
  return open_files(options);
}

std::unique_ptr<Source> open_manifest(const source::TempFolder& data) {
  std::string list = "path,label\n";
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::string name = std::to_string(i * 31 % kSamples) + ".png";
    data.write(name, bytes_of_sample(i));
    list += name + ",0\n";
  }
  SourceOptions options = source::without_cache({});
  options.index_file = data.write("list.csv", list);
  return open_files(options);
}

struct SourceContract : testing::TestWithParam<WayToOpen> {
  source::TempFolder data;
  std::unique_ptr<Source> source = GetParam().open(data);
};

// What is expected is a hint: the second half of it is wrong.
void expect_all_read(const Source& source, std::int64_t first) {
  const auto reader = source.make_reader();
  std::vector<std::int64_t> hint;
  for (std::int64_t i = 0; i < kSamples; ++i)
    hint.push_back((first + i * (i < kSamples / 2 ? 13 : 7)) % kSamples);
  reader->expect(hint);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::int64_t sample = (first + i * 13) % kSamples;
    const auto bytes = reader->read(sample);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
              bytes_of_sample(sample));
  }
}

TEST_P(SourceContract, ReadsEverySampleInAnyOrder) {
  ASSERT_EQ(source->size(), kSamples);
  expect_all_read(*source, 0);
}

TEST_P(SourceContract, ReadersOfManyThreadsDoNotDisturbEachOther) {
  std::vector<std::jthread> threads;
  for (std::int64_t i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] { expect_all_read(*source, i); });
  }
}

TEST_P(SourceContract, DescribesEverySampleDifferently) {
  std::set<std::string> names;
  for (std::int64_t i = 0; i < kSamples; ++i) names.insert(source->describe(i));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kSamples));
}

// After an error the reader is as good as new.
TEST_P(SourceContract, AMissingSampleIsAnErrorOfThisSampleOnly) {
  std::filesystem::remove(source->describe(3));
  const auto reader = source->make_reader();
  EXPECT_THROW(reader->read(3), SampleError);
  EXPECT_EQ(reader->read(4).size(), bytes_of_sample(4).size());
}

std::vector<WayToOpen> all_cases() {
  std::vector<WayToOpen> cases = {{"manifest", open_manifest}};
  for (const FileAccess access : source::all_accesses()) {
    cases.push_back({"folder_" + source::test_name_of(access),
                     [access](const auto& data) { return open_folder(data, access); }});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Sources, SourceContract, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(SourceTable, EveryRowHasANameAndASentence) {
  std::set<std::string_view> names;
  for (const SourceRow& row : source_table()) {
    EXPECT_TRUE(names.insert(row.row.name).second);
    EXPECT_TRUE(row.row.help.ends_with("."));
  }
}

}  // namespace
}  // namespace loaderscope
