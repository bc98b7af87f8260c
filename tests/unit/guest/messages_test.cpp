// What processes say is bounded where it comes in, whatever the program's names and objects are.
#include "guest/host/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "guest/protocol/bounded.h"

namespace loaderscope::guest {
namespace {

using ::testing::HasSubstr;

nlohmann::json a_loader() {
  return {{"what", "loader"},
          {"iterator", 0},
          {"loader", 0},
          {"num_workers", 2},
          {"prefetch_factor", 2},
          {"batch_size", 8},
          {"samples", 80},
          {"batches", 0},
          {"is_opaque", false},
          {"pin_memory", false},
          {"in_order", true},
          {"persistent_workers", false},
          {"drop_last", false},
          {"shuffle", false},
          {"iterable", false},
          {"mp_context", "fork"},
          {"dataset", "Photos"},
          {"sampler", "SequentialSampler"},
          {"place", "train.py:12"},
          {"code", {{"collate", "pad (train.py:4)"}}}};
}

class MessagesTest : public testing::Test {
 protected:
  MessagesTest() { member_.pid = 12; }

  void hear(const nlohmann::json& message) { messages_.hear(member_, message.dump()); }

  RunConfig config_;
  Trainers trainers_{config_};
  ProcessWatch watch_;
  Messages messages_{config_, trainers_, watch_};
  Member member_{-1};
};

TEST_F(MessagesTest, NamesOfAnyLengthAreCut) {
  nlohmann::json message = a_loader();
  message["dataset"] = std::string(150'000, 'D');
  const LoaderFacts loader = parse_loader_facts(message);
  EXPECT_LE(loader.dataset.size(), kLongestName);
  EXPECT_EQ(loader.place, "train.py:12");
}

TEST_F(MessagesTest, CountsOfObjectsThatLieAreBroughtIntoRange) {
  nlohmann::json message = a_loader();
  message["num_workers"] = std::int64_t{1} << 60;
  message["batch_size"] = -8;
  const LoaderFacts loader = parse_loader_facts(message);
  EXPECT_EQ(loader.num_workers, kMostWorkers);
  EXPECT_EQ(loader.batch_size, 0);
}

TEST_F(MessagesTest, NotesAreFewAndShort) {
  for (int i = 0; i < 1000; ++i)
    hear({{"what", "degraded"}, {"text", std::to_string(i) + std::string(10'000, 'x')}});
  EXPECT_LE(messages_.notes().size(), 64U);
  for (const std::string& note : messages_.notes()) EXPECT_LE(note.size(), kLongestSentence);
}

TEST_F(MessagesTest, WhatIsNotUnderstoodIsANote) {
  nlohmann::json message = a_loader();
  message["iterator"] = -77;
  hear(message);
  messages_.hear(member_, "{\"what\": \"loader\", \"place\": \"\xff");
  messages_.hear(member_, std::string(200'000, '['));
  ASSERT_GE(messages_.notes().size(), 2U);
  for (const std::string& note : messages_.notes())
    EXPECT_THAT(note, HasSubstr("a message was not understood"));
}

TEST_F(MessagesTest, ALoaderIsMetWithTheNamesOfItsCode) {
  hear(a_loader());
  EXPECT_TRUE(messages_.notes().empty());
  const std::vector<Detail> details = messages_.user_code();
  ASSERT_EQ(details.size(), 1U);
  EXPECT_EQ(details.front().text, "pad (train.py:4)");
}

TEST_F(MessagesTest, TimesThatAreNoneDoNotSpoilTheOthers) {
  hear({{"what", "spent"}, {"parts", {{"decode", "imread", 3.0}, {"decode", "nonsense", -1e300}}}});
  const std::vector<Detail> details = messages_.user_code();
  ASSERT_EQ(details.size(), 1U);
  EXPECT_EQ(details.front().text, "imread");
  EXPECT_EQ(details.front().share, 1);
}

}  // namespace
}  // namespace loaderscope::guest
