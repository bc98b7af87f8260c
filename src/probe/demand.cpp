// Compares the ceilings of a machine with the demand of one job.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/wording.h"
#include "probe/profile.h"

namespace loaderscope::probe {
namespace {

double batches_per_s(const Demand& demand) {
  return demand.samples_per_s / static_cast<double>(std::max<std::int64_t>(demand.batch_size, 1));
}

double samples_of_all(const Demand& demand) {
  return demand.samples_per_s * static_cast<double>(demand.ranks);
}

std::string as_words(const DemandLine& line, double value) {
  return line.unit == "cores" ? format_cores(value) : format_byte_rate(value);
}

class CaseStatistics {
 public:
  CaseStatistics(const Profile& profile, DemandAnswer& answer)
      : profile_(profile), demand_(answer.demand), answer_(answer) {}

  void judge() {
    const double batches = batches_per_s(demand_);
    const double copied = batches * static_cast<double>(demand_.batch_bytes);
    if (const Ceiling* decoding = find(MachineResource::decoding);
        decoding && decoding->per_core_s > 0)
      add(MachineResource::decoding, samples_of_all(demand_) / decoding->per_core_s, profile_.cores,
          "cores", "");
    if (const Ceiling* storage = find(MachineResource::storage)) {
      if (storage->sample_bytes > 0)
        add(MachineResource::storage, samples_of_all(demand_) * storage->sample_bytes,
            storage->per_s, "bytes/s", ", " + format_size(storage->sample_bytes) + " a sample");
      else
        leave_out(MachineResource::storage,
                  "how many bytes a sample has is not known; give --data");
    }
    if (const Ceiling* copying = find(MachineResource::copying))
      add(MachineResource::copying, copied * static_cast<double>(demand_.ranks), copying->per_s,
          "bytes/s", " for one copy of each batch");
    if (const Ceiling* link = find(MachineResource::link))
      add(MachineResource::link, copied, link->per_s, "bytes/s",
          fmt::format(" of each GPU: {:.3g} ms a batch",
                      static_cast<double>(demand_.batch_bytes) / link->per_s * 1e3));
    conclude();
  }

 private:
  const Ceiling* find(MachineResource supply) {
    const Ceiling* ceiling = profile_.ceiling(supply);
    if (ceiling != nullptr && ceiling->per_s > 0) return ceiling;
    leave_out(supply, "it was not measured");
    return nullptr;
  }

  void add(MachineResource supply, double needed, double there, const char* unit,
           const std::string& note) {
    DemandLine line{std::string(name_of(supply)), needed, there, unit};
    line.share = there > 0 ? needed / there : 0;
    line.sentence = fmt::format("{} {} of {}, {}{}", line.name, as_words(line, needed),
                                as_words(line, there), format_percent(line.share), note);
    if (line.share > 1) {
      answer_.is_met = false;
      lacking_ += fmt::format("{}{} needs {} of {}", lacking_.empty() ? "" : ", ", line.name,
                              as_words(line, needed), as_words(line, there));
    }
    answer_.lines.push_back(std::move(line));
  }

  void leave_out(MachineResource supply, const std::string& why) {
    DemandLine line{std::string(name_of(supply)), 0, 0, "bytes/s"};
    line.sentence = fmt::format("{}: {}", line.name, why);
    left_out_.emplace_back(supply, why);
    answer_.lines.push_back(std::move(line));
  }

  // Without a GPU there is no link, and a copy within memory seldom is what lacks.
  std::string unknown_words() const {
    std::string text;
    for (const auto& [supply, why] : left_out_) {
      if (supply == MachineResource::decoding || supply == MachineResource::storage)
        text += fmt::format("{} is not judged ({}); ", name_of(supply), why);
    }
    return text;
  }

  void conclude() {
    const std::string job =
        fmt::format("{}{} samples/s", demand_.ranks > 1 ? fmt::format("{} x ", demand_.ranks) : "",
                    format_rate(demand_.samples_per_s));
    const DemandLine* most = nullptr;
    for (const DemandLine& line : answer_.lines) {
      if (line.there > 0 && (most == nullptr || line.share > most->share)) most = &line;
    }
    if (most == nullptr) {
      answer_.sentence = "what " + job + " need was not measured";
    } else if (answer_.is_met) {
      const bool is_known = answer_.is_all_judged();
      answer_.sentence = fmt::format("{} {}: {}the most is taken of {}, {}",
                                     is_known ? "enough for" : "cannot tell of", job,
                                     is_known ? "" : unknown_words() + "of the others ", most->name,
                                     format_percent(most->share));
    } else {
      answer_.sentence = fmt::format("NOT ENOUGH for {}: {}", job, lacking_);
    }
  }

  const Profile& profile_;
  const Demand demand_;
  DemandAnswer& answer_;
  std::string lacking_;
  std::vector<std::pair<MachineResource, std::string>> left_out_;
};

}  // namespace

bool DemandAnswer::is_all_judged() const {
  return std::none_of(lines.begin(), lines.end(), [](const DemandLine& line) {
    return line.there <= 0 && (line.name == name_of(MachineResource::decoding) ||
                               line.name == name_of(MachineResource::storage));
  });
}

void judge_demand(Profile& profile, const Demand& demand) {
  DemandAnswer& answer = profile.demand.emplace();
  answer.demand = demand;
  CaseStatistics(profile, answer).judge();
}

}  // namespace loaderscope::probe
