#include "rendezvous/handshake.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/secret.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::string_view kOurs = "loaderscope meeting 4\n";
constexpr std::size_t kCodeBytes = 32;

// `who` keeps one side's code from being used as the other's.
std::string make_code(const Secret& token, std::string_view who, const Once& once,
                      std::string_view text) {
  std::string all(kOurs);
  all.append(who).append("\n").append(once.comer_once).append(once.first_once).append(text);
  return hmac_sha256(token, all);
}

std::string code_of_comer(const Secret& token, const Once& once, std::string_view text) {
  return make_code(token, "comer", once, text);
}

// "NUMBER PROCESSES JOB"
std::optional<Claim> parse_claim(std::string_view text) {
  Claim claim;
  for (std::int64_t* number : {&claim.number, &claim.processes}) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    if (error != std::errc() || end == text.data() + text.size() || *end != ' ')
      return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
  claim.job = text;
  return claim;
}

std::string next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::int64_t number_in_line(std::string_view& text) {
  const std::string line = next_line(text);
  std::int64_t number = -1;
  std::from_chars(line.data(), line.data() + line.size(), number);
  return number;
}

// Reads a CPU quota; 0 if the line has none.
double quota_in_line(std::string_view& text) {
  const std::string line = next_line(text);
  double quota = 0;
  std::from_chars(line.data(), line.data() + line.size(), quota);
  return std::isfinite(quota) ? quota : 0;
}

// Returns the first setting that the other side lacks, as "'NAME = VALUE'".
std::string first_own(std::string_view one, std::string_view other) {
  std::set<std::string> others;
  while (!other.empty()) others.insert(next_line(other));
  while (!one.empty()) {
    const std::string line = next_line(one);
    if (!others.contains(line)) return "'" + shown_text(line) + "'";
  }
  return "no such setting";
}

}  // namespace

std::string digest_of_job(const std::string& name) { return hex_text(sha256(name)); }

std::string hello_text(const std::string& once) { return std::string(kOurs) + once; }

std::optional<std::string> once_in_hello(std::string_view hello) {
  if (!hello.starts_with(kOurs) || hello.size() != kOurs.size() + kOnceBytes) return std::nullopt;
  return std::string(hello.substr(kOurs.size()));
}

std::string make_proof(const Secret& token, const Once& once, const Claim& claim) {
  const std::string text = fmt::format("{} {} {}", claim.number, claim.processes, claim.job);
  return code_of_comer(token, once, text) + text;
}

std::optional<Claim> proven_claim(const Secret& token, const Once& once, std::string_view proof) {
  if (proof.size() < kCodeBytes) return std::nullopt;
  const std::string_view text = proof.substr(kCodeBytes);
  if (!are_same_code(proof.substr(0, kCodeBytes), code_of_comer(token, once, text)))
    return std::nullopt;
  return parse_claim(text);
}

std::string make_answer(const Secret& token, const Once& once) {
  return make_code(token, "first", once, "");
}

bool is_answer(const Secret& token, const Once& once, std::string_view answer) {
  return are_same_code(answer, make_answer(token, once));
}

std::string spelled(const HelloMessage& hello) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", hello.version, hello.ranks, hello.host,
                     hello.boot, hello.cpus.list, hello.cpus.quota, hello.cpus.group,
                     hello.settings);
}

HelloMessage parse_introduction(std::string_view text) {
  HelloMessage hello;
  hello.version = next_line(text);
  hello.ranks = number_in_line(text);
  hello.host = next_line(text);
  hello.boot = next_line(text);
  hello.cpus.list = next_line(text);
  hello.cpus.quota = quota_in_line(text);
  hello.cpus.group = next_line(text);
  hello.settings = text;
  return hello;
}

std::string find_difference(const std::string& who, const HelloMessage& hello,
                            const HelloMessage& first) {
  if (hello.version != first.version)
    return fmt::format("rendezvous: {} is loaderscope {}, and process 0 is {}; install one version",
                       who, shown_text(hello.version), first.version);
  if (hello.settings != first.settings)
    return fmt::format(
        "rendezvous: {} has {}, and process 0 has {}; start all with the same settings", who,
        first_own(hello.settings, first.settings), first_own(first.settings, hello.settings));
  return "";
}

}  // namespace loaderscope
