#include "job/machine_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "analysis/wording.h"
#include "job/data_images.h"
#include "job/version_text.h"
#include "loaderscope/errors.h"
#include "probe/probed_data.h"
#include "record/family_traits.h"
#include "report/kinds.h"
#include "report/output_file.h"
#include "report/schemas.h"
#include "source/cache_folder.h"
#include "source/registry.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;
using probe::MachineResource;
using probe::Profile;

// A home folder may be that of many machines.
std::string file_of_host(std::string host) {
  const std::string folder = source::user_cache_folder();
  if (folder.empty() || host.empty()) return "";
  std::replace(host.begin(), host.end(), '/', '_');
  return folder + "/machine/" + host + ".json";
}

// Returns the reason why the profile does not fit `machine`; "" if it does.
std::string unlike(const Profile& profile, const MachineFacts& machine) {
  if (profile.cpu != machine.cpu)
    return fmt::format("is of {}, and this is {}", shown_text(profile.cpu),
                       shown_text(machine.cpu));
  if (profile.logical_cpus != machine.logical_cpus)
    return fmt::format("is of {} CPUs, and here are {}", profile.logical_cpus,
                       machine.logical_cpus);
  return "";
}

std::optional<Profile> given_profile(const std::string& path, const MachineFacts& machine,
                                     std::vector<std::string>& notes) {
  std::vector<probe::SavedProfile> saved = probe::read_profiles(path);
  const auto is_own = [&](const probe::SavedProfile& each) {
    return unlike(each.profile, machine).empty() && each.profile.host == machine.host;
  };
  auto found = std::find_if(saved.begin(), saved.end(), is_own);
  if (found == saved.end())
    found = std::find_if(saved.begin(), saved.end(),
                         [&](const auto& each) { return unlike(each.profile, machine).empty(); });
  if (found == saved.end()) {
    throw UsageError(
        fmt::format("--machine {}: {}", shown_text(path),
                    saved.empty() ? "holds no profile" : unlike(saved.front().profile, machine)),
        "measure this machine with probe --json");
  }
  if (found->profile.host != machine.host)
    notes.push_back(fmt::format("the ceilings are those of {}, a machine like this one",
                                shown_text(found->profile.host)));
  return std::move(found->profile);
}

// Returns the saved profile of this machine, or nothing. A damaged profile adds a note and fails no
// run.
std::optional<Profile> kept_profile(const MachineFacts& machine, std::vector<std::string>& notes) {
  const std::string path = file_of_host(machine.host.value_or(""));
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return std::nullopt;
  const auto stale = [&](const std::string& why) {
    notes.push_back(fmt::format(
        "the profile that probe --save keeps of this machine {}: it is left out; save it again",
        why));
    return std::nullopt;
  };
  try {
    std::vector<probe::SavedProfile> saved = probe::read_profiles(path);
    if (saved.empty()) return stale("is empty");
    const std::string why = unlike(saved.front().profile, machine);
    if (!why.empty()) return stale(why);
    if (saved.front().profile.kernel != machine.kernel)
      notes.push_back(fmt::format("the profile of this machine was measured under kernel {}",
                                  shown_text(saved.front().profile.kernel)));
    return std::move(saved.front().profile);
  } catch (const RunError& reason) {
    return stale(fmt::format("cannot be read ({})", reason.what()));
  }
}

std::string device_probed(const Profile& profile) {
  for (const auto& [name, outcome] : profile.probes) {
    for (const probe::Fact& fact : outcome.facts) {
      if (name == "storage" && fact.name == "device") return fact.value;
    }
  }
  return "";
}

// Returns true if the data is on the probed storage. The files of a user's loader are unknown, so
// they count as on it.
bool lie_there(const DataConfig& data, const Profile& profile) {
  const std::string probed = device_probed(profile);
  return std::all_of(data.paths.value.begin(), data.paths.value.end(), [&](const auto& text) {
    fs::path path = parse_data(text, data.source.value).path;
    std::error_code error;
    while (path.has_relative_path() && !fs::exists(path, error)) path = path.parent_path();
    return !probed.empty() && probe::find_storage_device("/", path.string()).source == probed;
  });
}

double per_s(const Profile& profile, MachineResource supply) {
  const probe::Ceiling* ceiling = profile.ceiling(supply);
  return ceiling == nullptr ? 0 : ceiling->per_s;
}

double value_of_figure(const Profile& profile, std::string_view measurement,
                       const std::string& name) {
  const probe::Figure* figure = profile.figure(measurement, name);
  return figure == nullptr ? 0 : figure->value;
}

// Prefers the engines to CUDA kernels, as `--decode gpu` does.
void add_decoding_by_gpu(const Profile& profile, ProbedRates& rates) {
  constexpr std::string_view kRow = "jpeg-engines";
  for (const std::string way : {"engines", "cuda"}) {
    const double pixels = value_of_figure(profile, kRow, way + "_pixels_per_s");
    if (pixels <= 0) continue;
    rates.gpu_decode_pixels_per_s = pixels;
    rates.gpu_decode_image_s = value_of_figure(profile, kRow, way + "_image_s");
    rates.gpu_decode_cpu_s = value_of_figure(profile, kRow, way + "_cpu_s");
    return;
  }
}

// Returns the share of its speed that a training loses. 0 means unknown, so a training that loses
// nothing gets the least share.
double taken_share(const Profile& profile, const std::string& kept_figure) {
  constexpr double kMinTaken = 1e-4;
  const probe::Figure* kept = profile.figure("gpu-share", kept_figure);
  return kept == nullptr ? 0 : std::clamp(1 - kept->value, kMinTaken, 1.0);
}

void add_work_of_gpu(const Profile& profile, ProbedRates& rates) {
  add_decoding_by_gpu(profile, rates);
  const double samples = value_of_figure(profile, "augment-kernel", "f32_samples");
  if (samples > 0) rates.gpu_augment_sample_s = 1 / samples;
  rates.gpu_decode_taken = taken_share(profile, "products_during_decode");
  rates.gpu_decode_taken_of_copies = taken_share(profile, "copies_during_decode");
  rates.gpu_augment_taken = taken_share(profile, "products_during_augment");
  rates.gpu_augment_taken_of_copies = taken_share(profile, "copies_during_augment");
}

}  // namespace

std::string save_machine(const Profile& profile) {
  const std::string path = file_of_host(profile.host);
  if (path.empty())
    throw RunError("--save: there is no cache folder", "set HOME or XDG_CACHE_HOME");
  Profile kept = profile;  // a question of the user is no fact of the machine
  kept.demand.reset();
  kept.against.reset();
  try {
    write_private(path,
                  [&](std::ostream& out) { write_json(out, make_result(kept, version_number())); });
  } catch (const RunError& error) {
    throw add_place<RunError>("--save: ", error);
  }
  return path;
}

ProbedRates known_rates(const std::string& given, const MachineFacts& machine,
                        const DataConfig& data, std::vector<std::string>& notes) {
  ProbedRates rates;
  if (given == "none") return rates;
  const std::optional<Profile> profile =
      given.empty() ? kept_profile(machine, notes) : given_profile(given, machine, notes);
  if (!profile) return rates;
  constexpr double kDisturbed = 0.1;  // share of the cores
  if (profile->other_cores >= kDisturbed * profile->cores)
    notes.push_back(fmt::format(
        "other programs took {} while this machine was probed: its ceilings are too low; save them "
        "again when it is idle",
        format_cores(profile->other_cores)));
  if (const probe::Ceiling* decoding = profile->ceiling(MachineResource::decoding)) {
    rates.decodes_per_core_s = decoding->per_core_s;
    rates.decoded_bytes = decoding->sample_bytes;
  }
  if (lie_there(data, *profile))
    rates.storage_bytes_per_s = per_s(*profile, MachineResource::storage);
  rates.copied_bytes_per_s = per_s(*profile, MachineResource::copying);
  rates.link_bytes_per_s = per_s(*profile, MachineResource::link);
  add_work_of_gpu(*profile, rates);
  return rates;
}

void add_known_rates(const ProbedRates& rates, RunRecord& record) {
  if (is_model_engine(record.engine) || is_trace_engine(record.engine)) return;
  if (probed_rates(record) != ProbedRates()) return;
  add_probed_rates(rates, record);
  if (rates.gpu_decode_pixels_per_s > 0) add_image_facts(record);
}

}  // namespace loaderscope
