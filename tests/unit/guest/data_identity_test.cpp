#include "engine/guest/data_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace loaderscope::guest {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json order(int iterator, const char* hash, bool ascending = false) {
  return {{"what", "order"}, {"iterator", iterator}, {"hash", hash}, {"ascending", ascending}};
}

json of_worker(const char* what, int worker, const char* key, const char* hash) {
  return {{"what", what}, {"iterator", 0}, {"worker", worker}, {key, hash}};
}

TEST(DataIdentity, OtherOrdersAndOtherDrawsAreRight) {
  DataIdentity identity;
  identity.hear(1, order(0, "a"));
  identity.hear(1, order(1, "b"));
  for (int worker = 0; worker < 3; ++worker)
    identity.hear(1, of_worker("draws", worker, "numpy", std::to_string(worker).c_str()));
  EXPECT_THAT(identity.faults().notes, IsEmpty());
  EXPECT_THAT(identity.faults().metrics, IsEmpty());
}

TEST(DataIdentity, AShuffledOrderThatComesAgainIsAFault) {
  DataIdentity identity;
  for (int epoch = 0; epoch < 3; ++epoch) identity.hear(1, order(epoch, "a"));
  const DataIdentity::Faults faults = identity.faults();
  ASSERT_THAT(faults.notes, ElementsAre(HasSubstr("2 epochs were in the order of an earlier")));
  EXPECT_EQ(faults.metrics.front().name, "data.repeated_orders");
  EXPECT_EQ(faults.metrics.front().value, 2);
}

TEST(DataIdentity, TheOrderOfTheDataSetIsNone) {
  DataIdentity identity;
  for (int epoch = 0; epoch < 3; ++epoch) identity.hear(1, order(epoch, "a", true));
  EXPECT_THAT(identity.faults().notes, IsEmpty());
}

TEST(DataIdentity, RanksWithTheSameSamplesAreAFault) {
  DataIdentity identity;
  identity.hear(1, order(0, "a"));
  identity.hear(2, order(0, "a"));
  EXPECT_THAT(identity.faults().notes, ElementsAre(HasSubstr("1 rank was given the same samples")));
}

TEST(DataIdentity, WorkersWithTheSameStreamOrSeedAreAFault) {
  DataIdentity identity;
  for (int worker = 0; worker < 4; ++worker) {
    identity.hear(1, of_worker("stream", worker, "hash", "a"));
    identity.hear(1, of_worker("draws", worker, "numpy", "b"));
  }
  EXPECT_THAT(identity.faults().notes,
              ElementsAre(HasSubstr("each of 3 workers streams the same samples"),
                          HasSubstr("3 workers draw the same random numbers")));
}

// Every epoch begins with the seeds of the one before: common, and not looked at here.
TEST(DataIdentity, OneWorkerIsLikeNoOther) {
  DataIdentity identity;
  identity.hear(1, of_worker("stream", 0, "hash", "a"));
  EXPECT_THAT(identity.faults().notes, IsEmpty());
}

}  // namespace
}  // namespace loaderscope::guest
