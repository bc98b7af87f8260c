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
std::string code_of(const Secret& token, std::string_view who, const Once& once,
                    std::string_view text) {
  std::string all(kOurs);
  all.append(who).append("\n").append(once.of_comer).append(once.of_first).append(text);
  return hmac_sha256(token, all);
}

std::string code_of_comer(const Secret& token, const Once& once, std::string_view text) {
  return code_of(token, "comer", once, text);
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

std::string digest_of_job(const std::string& name) { return hex_of(sha256(name)); }

std::string hello_of(const std::string& once) { return std::string(kOurs) + once; }

std::optional<std::string> once_in_hello(std::string_view hello) {
  if (!hello.starts_with(kOurs) || hello.size() != kOurs.size() + kOnceBytes) return std::nullopt;
  return std::string(hello.substr(kOurs.size()));
}

std::string proof_of(const Secret& token, const Once& once, const Claim& claim) {
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

std::string answer_of(const Secret& token, const Once& once) {
  return code_of(token, "first", once, "");
}

bool is_answer(const Secret& token, const Once& once, std::string_view answer) {
  return are_same_code(answer, answer_of(token, once));
}

std::string spelled(const HelloMessage& of) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", of.version, of.ranks, of.host, of.boot,
                     of.cpus.list, of.cpus.quota, of.cpus.group, of.settings);
}

HelloMessage parse_introduction(std::string_view text) {
  HelloMessage of;
  of.version = next_line(text);
  of.ranks = number_in_line(text);
  of.host = next_line(text);
  of.boot = next_line(text);
  of.cpus.list = next_line(text);
  of.cpus.quota = quota_in_line(text);
  of.cpus.group = next_line(text);
  of.settings = text;
  return of;
}

std::string difference_of(const std::string& who, const HelloMessage& of,
                          const HelloMessage& first) {
  if (of.version != first.version)
    return fmt::format("rendezvous: {} is loaderscope {}, and process 0 is {}; install one version",
                       who, shown_text(of.version), first.version);
  if (of.settings != first.settings)
    return fmt::format(
        "rendezvous: {} has {}, and process 0 has {}; start all with the same settings", who,
        first_own(of.settings, first.settings), first_own(first.settings, of.settings));
  return "";
}

}  // namespace loaderscope
