// Folded while recording == recomputed from everything, row by row.
#include <gtest/gtest.h>

#include "unit/account/oracle.h"
#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

std::string differences(const RunRecord& record, const FactKeeper& facts, const RunConfig& config) {
  const bool in_order = config.in_order || config.executor == Executor::inline_;
  const auto expected = recompute_account(facts, in_order, config.sync_ranks);
  std::string text;
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    const std::vector<StepRow> rows = rows_of(record.ranks[rank]);
    const std::size_t steps = rank < expected.size() ? expected[rank].size() : 0;
    if (rows.size() != steps) return "another number of steps";
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string here = difference(rows[k], expected[rank][k]);
      if (!here.empty()) text += "rank " + std::to_string(rank) + " " + here;
    }
  }
  return text;
}

TEST(AccountOracle, AgreesOnRandomPipelines) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const Pipeline pipeline = random_pipeline(seed);
    FactKeeper facts;
    const RunRecord record = run_pipeline(pipeline.config, &facts);
    ASSERT_EQ(differences(record, facts, pipeline.config), "") << "seed " << seed << "\n" << pipeline.text();
  }
}

}  // namespace
}  // namespace loaderscope
