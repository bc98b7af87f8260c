#include "guest/host/loader_facts.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "guest/protocol/bounded.h"
#include "guest/protocol/page.h"
#include "loaderscope/errors.h"

namespace loaderscope::guest {

using nlohmann::json;

namespace {

constexpr std::int64_t kMostBatches = std::int64_t{1}
                                      << 28;  // at once: in a queue, or samples in one
constexpr std::int64_t kMostSamples = std::int64_t{1} << 40;  // of a data set

// They come from objects of the program's own, which may say anything.
void bring_into_range(LoaderFacts& facts) {
  for (const auto& [number, most] :
       {std::pair{&facts.num_workers, std::int64_t{kMostWorkers}},
        std::pair{&facts.prefetch_factor, kMostBatches}, std::pair{&facts.batch_size, kMostBatches},
        std::pair{&facts.samples, kMostSamples}, std::pair{&facts.batches, kMostSamples}})
    *number = std::clamp<std::int64_t>(*number, 0, most);
  for (std::string* text : {&facts.mp_context, &facts.dataset, &facts.sampler, &facts.place})
    *text = bounded_text(std::move(*text));
}

}  // namespace

LoaderFacts parse_loader_facts(const std::string& message) {
  LoaderFacts facts;
  try {
    const json all = parse_message(message);
    facts.number = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        all.at("loader").get<std::int64_t>(), 0, std::numeric_limits<std::int32_t>::max()));
    all.at("num_workers").get_to(facts.num_workers);
    all.at("prefetch_factor").get_to(facts.prefetch_factor);
    all.at("batch_size").get_to(facts.batch_size);
    all.at("samples").get_to(facts.samples);
    all.at("batches").get_to(facts.batches);
    facts.shards = all.value("shards", std::int64_t{0});
    all.at("is_opaque").get_to(facts.is_opaque);
    all.at("pin_memory").get_to(facts.pin_memory);
    all.at("persistent_workers").get_to(facts.persistent_workers);
    all.at("in_order").get_to(facts.in_order);
    all.at("drop_last").get_to(facts.drop_last);
    all.at("shuffle").get_to(facts.shuffle);
    all.at("iterable").get_to(facts.iterable);
    all.at("mp_context").get_to(facts.mp_context);
    all.at("dataset").get_to(facts.dataset);
    all.at("sampler").get_to(facts.sampler);
    all.at("place").get_to(facts.place);
  } catch (const json::exception& error) {
    throw ValueError(std::string("a description of a loader: ") + error.what());
  }
  bring_into_range(facts);
  return facts;
}

void put_into(RunConfig& config, const LoaderFacts& loader, std::int64_t ranks) {
  const bool has_workers = loader.num_workers > 0;
  config.executor.value = loader.is_opaque ? Executor::opaque
                          : has_workers    ? Executor::processes
                                           : Executor::inline_;
  config.num_workers.value = loader.num_workers;
  if (has_workers && loader.prefetch_factor > 0)
    config.prefetch_factor.value = loader.prefetch_factor;
  config.batch_size.value = std::max<std::int64_t>(1, loader.batch_size);
  config.samples.value = loader.samples * ranks;
  config.memory.value = loader.pin_memory ? MemoryMode::pin_thread : MemoryMode::pageable;
  config.persistent_workers.value = loader.persistent_workers;
  config.in_order.value = loader.in_order;
  config.drop_last.value = loader.drop_last;
  config.shuffle.value = loader.shuffle;
  config.mp_context.value = value_of<StartMethod>(loader.mp_context).value_or(StartMethod::fork);
  config.ranks.value = ranks;
}

}  // namespace loaderscope::guest
