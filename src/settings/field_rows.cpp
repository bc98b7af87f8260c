#include "settings/field_rows.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/cpu_set.h"
#include "base/old_words.h"
#include "base/python_script.h"
#include "loaderscope/device.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"
#include "source/registry.h"

namespace loaderscope {
namespace {

constexpr double kMaxSample = 0x1p50;

double bytes_value(std::string_view text) {
  const auto bytes = static_cast<double>(parse_size(text));
  if (bytes > kMaxSample) throw ValueError("expected a size of at most 1PiB");
  return bytes;
}

std::string bytes_to_text(double bytes) { return size_to_text(std::llround(bytes)); }

bool is_zero(std::string_view text) { return text == "0"; }

WarmUp parse_warmup(std::string_view text) {
  constexpr const char* kExpected =
      "expected a number of steps such as 5, or a duration such as 2s";
  if (text.empty()) throw ValueError(kExpected);
  if (text.find_first_not_of("0123456789") == text.npos) return {parse_count(text), 0};
  try {
    return {0, parse_duration(text)};
  } catch (const ValueError&) {
    throw ValueError(kExpected);
  }
}

std::string warmup_to_text(const WarmUp& warmup) {
  return warmup.duration != 0 ? duration_to_text(warmup.duration) : std::to_string(warmup.steps);
}

// Nominal rates of host-to-device copies. gen4x16 is what most machines of its kind reach.
const std::vector<Link>& known_links() {
  static const std::vector<Link> links = {
      {"gen4x16", 25e9, 8e9}, {"gen5x16", 50e9, 10e9}, {"c2c", 300e9, 60e9}};
  return links;
}

double parse_gigabytes(std::string_view text) {
  const double rate = parse_byte_rate(std::string(text) + "GB/s");
  if (rate > 1e15) throw ValueError("at most 1000000 GB/s");
  return rate;
}

Link parse_link(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Link& link : known_links()) {
    if (link.name == text) return link;
    names.push_back(link.name);
  }
  const std::string expected =
      "expected gen4x16, gen5x16, c2c or PINNED/PAGEABLE in GB/s such as 25/8";
  const auto slash = text.find('/');
  if (slash == text.npos) throw ValueError(expected + suggestion(text, names));
  try {
    return {std::string(text), parse_gigabytes(text.substr(0, slash)),
            parse_gigabytes(text.substr(slash + 1))};
  } catch (const ValueError&) {
    throw ValueError(expected);
  }
}

// A number above 0 and at most 1.
double parse_share(std::string_view text) {
  const double share = parse_real(text);
  if (!(share > 0) || share > 1) throw ValueError("expected a share above 0 and at most 1");
  return share;
}

DecodePlace parse_decode(std::string_view text) {
  const auto colon = text.find(':');
  const auto on = parse_word<DecodeOn>(text.substr(0, colon));
  if ((on == DecodeOn::split) != (colon != text.npos))
    throw ValueError("expected cpu, gpu, hw or split:SHARE such as split:0.7");
  return {on, on == DecodeOn::split ? parse_share(text.substr(colon + 1)) : 1};
}

std::string decode_to_text(const DecodePlace& place) {
  std::string text(name_of(place.on));
  if (place.on == DecodeOn::split) text += ":" + real_to_text(place.share);
  return text;
}

Resident parse_resident(std::string_view text) {
  const auto colon = text.find(':');
  const auto form = parse_word<ResidentForm>(text.substr(0, colon));
  if (colon == text.npos) return {form, 0};
  if (form != ResidentForm::decoded)
    throw ValueError("expected no, stored, decoded or decoded:SIDE such as decoded:256");
  const std::int64_t side = parse_count(text.substr(colon + 1));
  if (side == 0) throw ValueError("expected a side of at least 1 pixel");
  return {form, side};
}

std::string resident_to_text(const Resident& resident) {
  std::string text(name_of(resident.form));
  if (resident.side > 0) text += ":" + std::to_string(resident.side);
  return text;
}

constexpr std::array<std::pair<std::string_view, Bind::Way>, 4> kWaysToBind = {
    {{"near-gpu", Bind::Way::near_gpu},
     {"spread", Bind::Way::spread},
     {"compact", Bind::Way::compact},
     {"none", Bind::Way::none}}};

// Parses a CPU list of taskset, in ascending order. Returns an empty set for other text.
CpuSet listed_cpus(std::string_view text) {
  const CpuSet cpus = parse_cpu_list(text);  // up to what it does not know
  std::size_t listed = 0;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const CpuSet part = parse_cpu_list(text.substr(0, comma));
    if (part.empty() || cpu_list_to_text(part) != text.substr(0, comma)) return {};
    listed += part.size();
    more = comma != text.npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return listed == cpus.size() ? cpus : CpuSet{};
}

Bind parse_bind(std::string_view text) {
  std::vector<std::string_view> names;
  for (const auto& [name, way] : kWaysToBind) {
    if (text == name) return {way, {}};
    names.push_back(name);
  }
  Bind bind{Bind::Way::list, listed_cpus(text)};
  if (bind.cpus.empty()) {
    throw ValueError(
        "expected near-gpu, spread, compact, none, or CPUs in ascending order such as 0-3,8" +
        suggestion(text, names));
  }
  return bind;
}

std::string bind_to_text(const Bind& bind) {
  for (const auto& [name, way] : kWaysToBind) {
    if (bind.way == way) return std::string(name);
  }
  return cpu_list_to_text(bind.cpus);
}

std::string parse_path(std::string_view text) {
  if (text.empty()) throw ValueError("expected the path of a file, or - for standard output");
  if (text.find('\0') != text.npos) throw ValueError("expected a path without a zero byte");
  return std::string(text);
}

template <class Entry>
std::string known_name(std::string_view name, std::span<const Entry> table) {
  std::vector<std::string_view> names;
  for (const Entry& entry : table) {
    if (entry.row.name == name) return std::string(name);
    names.push_back(entry.row.name);
  }
  throw unknown_word(name, names);
}

std::string same(const std::string& text) { return text; }

// "train.py:make_loader"; whether it is there is seen when it is run. `dots`: it may be a method.
std::string parse_function(std::string_view text, bool dots = false) {
  const auto colon = text.rfind(':');
  const std::string_view name = colon == text.npos ? "" : text.substr(colon + 1);
  const auto is_name_character = [&](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c > 127 || (dots && c == '.');
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_character) ||
      std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
      !is_python_script(text.substr(0, colon))) {
    throw ValueError(dots ? "expected FILE.py:NAME, such as train.py:get_batch"
                          : "expected FILE.py:FUNCTION, such as train.py:make_loader");
  }
  return parse_path(text);
}

}  // namespace

ValueError unknown_word(std::string_view word, const std::vector<std::string_view>& known) {
  std::string expected = known.size() == 1 ? "expected" : "expected one of";
  for (std::string_view name : known) expected += " " + std::string(name);
  return ValueError(expected + suggestion(word, known));
}

Codec<std::int64_t> count_codec() {
  return {parse_count, [](const std::int64_t& n) { return std::to_string(n); }, true};
}

Codec<double> real_codec() {
  return {parse_real, [](const double& x) { return real_to_text(x); }, true};
}

Codec<double> fraction_codec() {
  return {[](std::string_view text) {
            const double x = parse_real(text);
            if (!(x > 0) || x > 1) throw ValueError("expected a number above 0 and at most 1");
            return x;
          },
          [](const double& x) { return real_to_text(x); }, true};
}

Codec<bool> switch_codec() {
  return {[](std::string_view text) {
            if (text != "true" && text != "false") throw unknown_word(text, {"true", "false"});
            return text == "true";
          },
          [](const bool& on) { return std::string(on ? "true" : "false"); }};
}

Codec<Nanos> duration_codec() {
  return {parse_duration, [](const Nanos& ns) { return duration_to_text(ns); }};
}

Codec<Bytes> size_codec() {
  return {parse_size, [](const Bytes& bytes) { return size_to_text(bytes); }};
}

Codec<double> byte_rate_codec() {
  return {[](std::string_view text) { return is_zero(text) ? 0.0 : parse_byte_rate(text); },
          [](const double& rate) { return rate == 0 ? "0" : byte_rate_to_text(rate); }};
}

Codec<double> count_rate_codec() {
  return {[](std::string_view text) { return is_zero(text) ? 0.0 : parse_count_rate(text); },
          [](const double& rate) { return rate == 0 ? "0" : count_rate_to_text(rate); }};
}

Codec<Distribution> time_codec() { return {parse_time_distribution, time_distribution_to_text}; }

Codec<Distribution> bytes_codec() {
  return {[](std::string_view text) { return parse_distribution(text, bytes_value); },
          [](const Distribution& d) { return distribution_to_text(d, bytes_to_text); }};
}

Codec<Compute> compute_codec() { return {parse_compute, compute_to_text}; }

Codec<WarmUp> warmup_codec() { return {parse_warmup, warmup_to_text}; }

Codec<Link> link_codec() {
  return {parse_link, [](const Link& link) { return link.name; }};
}

Codec<DecodePlace> decode_codec() { return {parse_decode, decode_to_text}; }

Codec<Resident> resident_codec() { return {parse_resident, resident_to_text}; }

SharedSpeed parse_shared_speed(std::string_view text) {
  const auto equals = text.find('='), colon = text.find(':', equals);
  const auto stage = value_of<Stage>(text.substr(0, equals));
  if (equals == text.npos || colon == text.npos || !stage || !is_on_device(*stage))
    throw ValueError("expected STAGE=C:P such as gpu-augment=0.8:0.5");
  const std::string_view compute = text.substr(equals + 1, colon - equals - 1);
  return {*stage, compute == "0" ? 0 : parse_share(compute), parse_share(text.substr(colon + 1)),
          std::string(text)};
}

Codec<Bind> bind_codec() { return {parse_bind, bind_to_text}; }

Codec<std::string> path_codec() { return {parse_path, same}; }

Codec<std::string> function_codec() {
  return {[](std::string_view text) { return parse_function(text); }, same};
}

Codec<std::string> method_codec() {
  return {[](std::string_view text) { return parse_function(text, true); }, same};
}

Codec<std::string> loader_codec() {
  return {[](std::string_view text) {
            if (find_pipeline(text) != nullptr) return std::string(text);
            try {
              return parse_function(text);
            } catch (const ValueError&) {
              std::vector<std::string_view> names;
              for (const PipelineRow& row : pipeline_table()) names.push_back(row.row.name);
              throw ValueError(
                  "expected FILE.py:FUNCTION or a pipeline of 'loaderscope list pipeline'" +
                  suggestion(text, names));
            }
          },
          same};
}

Codec<std::string> engine_codec() {
  return {[](std::string_view name) {
            return known_name(current_word(WordKind::engine, name), engine_table());
          },
          same};
}

Codec<std::string> device_codec() {
  return {[](std::string_view name) { return known_name(name, device_table()); }, same};
}

Codec<std::string> source_codec() {
  return {[](std::string_view name) {
            if (name == "gpu-resident")
              throw ValueError("a source names what is read, and not where it is kept",
                               "give --resident stored, or --resident decoded");
            return known_name(name, source_table());
          },
          same};
}

}  // namespace loaderscope
